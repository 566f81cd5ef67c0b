/** Result of one check of `doctor`: `wrong` must be corrected now, `warn` may cause trouble later. */
export type Diagnosis = Readonly<{ is: 'ok' | 'note' | 'warn' | 'wrong'; what: string; says: string }>

export const ok = (what: string, says: string): Diagnosis => ({ is: 'ok', what, says })
export const note = (what: string, says: string): Diagnosis => ({ is: 'note', what, says })
export const warn = (what: string, says: string): Diagnosis => ({ is: 'warn', what, says })
export const wrong = (what: string, says: string): Diagnosis => ({ is: 'wrong', what, says })

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
