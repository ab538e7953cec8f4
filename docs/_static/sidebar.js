// The page that is open stands in the middle of the side bar, however long the list is.
document.addEventListener("DOMContentLoaded", () => {
  const scroll = document.querySelector(".sidebar-scroll");
  const entry = document.querySelector(".sidebar-tree li.current-page > a");
  if (scroll && entry) {
    const bar = scroll.getBoundingClientRect();
    scroll.scrollTop += entry.getBoundingClientRect().top - bar.top - bar.height / 2;
  }
});
