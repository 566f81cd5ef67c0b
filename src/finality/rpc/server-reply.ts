import type { AnswerFields } from './answer-shapes.ts'
import type { ServerReply } from './rpc-failure.ts'

/** Codes with their own metrics. Others count as `other`, so that no server can fill the metrics. */
const CODES: ReadonlySet<string> = new Set([
  // JSON-RPC 2.0
  ...'-32700 -32600 -32601 -32602 -32603'.split(' '),
  // EIP-1474 and Agave
  ...Array.from({ length: 21 }, (_, at) => String(-32_000 - at)),
  // providers, and nodes without a block or its history
  ...'-32029 -32429 -32615 -39001 4444'.split(' '),
  // HTTP
  ...'301 302 307 308 400 401 402 403 404 405 413 415 422 429 500 502 503 504'.split(' '),
])

/** Most characters of a message that are read, and that are shown. */
const READ_CHARS_MAX = 4_000
const WORDS_CHARS_MAX = 200
const HIDDEN = '…'
/** Run of characters as in an identifier, a key or an address. */
const LONG_RUN = /[0-9A-Za-z_-]{16,}/g
/** Parts of names of methods, options and errors, such as `getTransaction`, and of joined words. */
const NAME_PARTS = /[_-]+|(?<=[a-z])(?=[A-Z])/
const NAME_PART = /^(?:[A-Z]?[a-z]{0,19}|[A-Z]{1,15})$/

/** Code and message of an answer. `secrets` are the parts of the URL that no message may repeat (`ChainUrl`). */
export function serverReply(
  status: number,
  error: AnswerFields | null,
  secrets: readonly string[],
): ServerReply {
  const { code, message } = error ?? {}
  const given = Number.isSafeInteger(code) ? String(code) : status === 200 ? null : String(status)
  return {
    code: given === null ? 'none' : CODES.has(given) ? given : 'other',
    message: typeof message === 'string' ? cleanMessage(message, secrets) : '',
  }
}

const isName = (run: string): boolean => run.split(NAME_PARTS).every((part) => NAME_PART.test(part))

/**
 * Text of a server for the operator, in one line, limited, without keys and addresses. The text may contain terminal
 * commands, or the key of its URL.
 */
export function cleanMessage(text: string, secrets: readonly string[]): string {
  return secrets
    .reduce((left, secret) => left.replaceAll(secret, HIDDEN), text.slice(0, READ_CHARS_MAX))
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[^\x20-\x7e…]/g, '?')
    .replaceAll(LONG_RUN, (run) => (isName(run) ? run : HIDDEN))
    .slice(0, WORDS_CHARS_MAX)
}
