import type { World } from './world.ts'

/**
 * Writes to standard output and waits until it is taken: a slow reader slows the writer, and nothing piles up. False
 * when nobody reads any more, which is no failure: `main.ts` hears of it too and calls the command off.
 */
export async function print(text: string | Uint8Array, world: World): Promise<boolean> {
  if (text.length === 0) return true
  return new Promise((resolve) => world.stdout.write(text, (error) => resolve(error == null)))
}

/** Text of others as a terminal may have it: no control character reaches it. */
export function harmless(text: string): string {
  // oxlint-disable-next-line no-control-regex -- what a terminal obeys is what is taken out
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, '\ufffd')
}

/** A word as a shell reads it back. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}
