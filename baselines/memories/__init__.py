"""Soft memories of tapes and tables."""
