// Loaded before anything is painted, so that a chosen theme never flashes.
try {
  const theme = localStorage.getItem('daybook-theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset['theme'] = theme
} catch {
  // A browser that keeps nothing shows the system's theme.
}
