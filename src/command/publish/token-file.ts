import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { createDurably, makeFolderDurably, removeMakings } from '../../log/store/durable-rename.ts'
import { UsageError } from '../terminal/command-error.ts'
import { readStart, systemReason } from '../terminal/option-paths.ts'
import { TOKEN_BYTES_MIN } from '../../publish/api/token-guard.ts'

/** File in the data directory with the token that the first start creates. */
export const TOKEN_FILE = 'publish-token'
/** A token as `Authorization: Bearer` sends it. */
const TOKEN = /^[\x21-\x7e]+$/
/** Bytes that are read of a file with tokens. */
const TOKEN_FILE_BYTES_MAX = 4_096

/**
 * Tokens of the publish API: the lines of `file`, at most two (the current and the next one, during a change). Without
 * a file, the first start creates a token in the data directory.
 */
export function readTokens(file: string | null, data: string): readonly string[] {
  const path = file ?? join(data, TOKEN_FILE)
  if (file === null && !existsSync(path)) {
    makeFolderDurably(data)
    // A power cut must not leave an empty file, which the next start would refuse.
    createDurably(path, `${randomBytes(32).toString('hex')}\n`)
    chmodSync(path, 0o600)
  } else if (file === null) removeMakings(path)
  const tokens = readLines(path).filter((line) => line !== '')
  if (tokens.length < 1 || tokens.length > 2) {
    throw new UsageError(
      `the token file ${path} has ${tokens.length} tokens: it needs one, or two while the token changes`,
    )
  }
  for (const token of tokens) {
    if (!TOKEN.test(token)) {
      throw new UsageError(
        `a token in ${path} has characters that cannot be sent: use visible ASCII without blanks`,
      )
    }
    if (token.length < TOKEN_BYTES_MIN) {
      throw new UsageError(`a token in ${path} is shorter than ${TOKEN_BYTES_MIN} bytes: use a longer one`)
    }
  }
  return tokens
}

/** Token that a client sends to the publish API: the first line of a file. */
export function readToken(file: string): string {
  const [token = ''] = readLines(file)
  if (!TOKEN.test(token)) throw new UsageError(`the first line of ${file} is not a token`)
  return token
}

function readLines(path: string): readonly string[] {
  try {
    return readStart(path, TOKEN_FILE_BYTES_MAX)
      .split('\n')
      .map((line) => line.trim())
  } catch (cause) {
    throw new UsageError(`the token file ${path} cannot be read: ${systemReason(cause)}`, { cause })
  }
}
