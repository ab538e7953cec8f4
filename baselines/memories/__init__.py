"""Soft memories of tapes, tables and texts."""
