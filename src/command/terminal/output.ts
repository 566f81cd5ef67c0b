import type { CommandContext } from './command-context.ts'

/**
 * Writes to standard output and waits until the write is done, so a slow reader slows the writer and nothing piles up.
 * False when the write failed; `main.ts` sees the same error and stops the command.
 */
export async function print(text: string | Uint8Array, context: CommandContext): Promise<boolean> {
  if (text.length === 0) return true
  return new Promise((resolve) => context.stdout.write(text, (error) => resolve(error == null)))
}

/** Text from outside without control characters, which a terminal would obey. */
export function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what is replaced
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, '\ufffd')
}

/** A word quoted for a shell, where it needs quotes. */
export function shellQuoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}
