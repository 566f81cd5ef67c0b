import type { CommandContext } from './command-context.ts'

/**
 * Writes to standard output and waits until the write is done, so that a slow reader slows the writer and the buffer
 * does not grow. False when the write failed; `main.ts` sees the same error and stops the command.
 */
export async function print(text: string | Uint8Array, context: CommandContext): Promise<boolean> {
  if (text.length === 0) return true
  return new Promise((resolve) => context.stdout.write(text, (error) => resolve(error == null)))
}

/** Text from outside without control characters, which a terminal would interpret. */
export function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what is replaced
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, '\ufffd')
}

/** A word quoted for a shell, where it needs quotes. */
export function shellQuoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}

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
