import { findsAddress } from '../../protocol/address-guard.ts'

/** Most characters of a text in a log line. Longer text is cut. */
export const LINE_TEXT_CHARS_MAX = 1_000
/** Most stack frames of an error. */
const FRAMES_MAX = 12
/** Most characters of a stack frame. */
const FRAME_CHARS_MAX = 300
/** Most causes of an error that are shown. */
const CAUSES_MAX = 3

const HIDDEN = '(hidden: it holds what looks like a wallet address)'
const FRAME = /^\s+at /

/** An error in a log line. */
export type ShownError = Readonly<{
  name: string
  message: string
  stack: readonly string[]
  cause?: ShownError
}>

/** Text of an error or of another machine, cut, and hidden when it holds what looks like a wallet address. */
export function shownText(text: string): string {
  const cut = text.length > LINE_TEXT_CHARS_MAX ? `${text.slice(0, LINE_TEXT_CHARS_MAX)}…` : text
  return findsAddress(cut, 'prose') ? HIDDEN : cut
}

/** A thrown value. Other properties of an error are left out, because they may hold what was sent. */
export function shownError(error: unknown, depth = 0): ShownError {
  if (isShown(error)) return error
  if (!(error instanceof Error)) return { name: typeof error, message: shownText(String(error)), stack: [] }
  const frames = (error.stack ?? '').split('\n').filter((line) => FRAME.test(line))
  const stack = frames.slice(0, FRAMES_MAX).map((frame) => frame.trim().slice(0, FRAME_CHARS_MAX))
  const { cause } = error
  const deeper = cause === undefined || depth >= CAUSES_MAX ? {} : { cause: shownError(cause, depth + 1) }
  return { name: error.name, message: shownText(error.message), stack, ...deeper }
}

/** Whether another thread has made it already. */
function isShown(error: unknown): error is ShownError {
  if (typeof error !== 'object' || error === null || error instanceof Error) return false
  return 'name' in error && 'message' in error && 'stack' in error && Array.isArray(error.stack)
}

const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** Escapes control and format characters, as JSON does, so that no terminal obeys them. */
export function escapeControls(text: string): string {
  return text.replace(UNPRINTABLE, (character) =>
    [...Array(character.length).keys()]
      .map((at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`)
      .join(''),
  )
}
