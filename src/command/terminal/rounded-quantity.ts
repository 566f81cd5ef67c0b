const UNITS = [
  [86_400_000, 'days'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
] as const

/** Rounded duration: `3 h`, `12 s`. */
export function formatAge(ms: number): string {
  const [unitMs, unit] = UNITS.find(([width]) => ms >= 2 * width) ?? [1_000, 's']
  return `${Math.max(0, Math.round(ms / unitMs))} ${unit}`
}

/** Rounded size: `1.2 GiB`. */
export function formatBytes(bytes: number): string {
  const power = Math.min(4, Math.floor(Math.log2(Math.max(1, bytes)) / 10))
  const value = bytes / 1024 ** power
  return `${value >= 10 || power === 0 ? Math.round(value) : value.toFixed(1)} ${['B', 'KiB', 'MiB', 'GiB', 'TiB'][power]}`
}
