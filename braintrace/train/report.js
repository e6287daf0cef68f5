document.getElementById('theme').addEventListener('click', () => {
  const root = document.documentElement, dark = matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset.theme = (root.dataset.theme || (dark ? 'dark' : 'light')) === 'dark' ? 'light' : 'dark';
});
document.documentElement.dataset.ready = 'true';
