import { hash } from 'node:crypto'

const SEALED = /^\{"sha256":"([0-9a-f]{64})","content":(.*)\}\n$/s

/** Formats a value as JSON with the SHA-256 of its bytes, so that damage is detected. */
export function formatSealed(value: unknown): string {
  const content = JSON.stringify(value)
  return `{"sha256":"${hash('sha256', content)}","content":${content}}\n`
}

/** Parses the result of `formatSealed`. Undefined for any other bytes, such as those with a flipped bit. */
export function parseSealed(bytes: Buffer): unknown {
  // Latin-1 maps each byte to one character, so that different bytes never give the same text.
  const [, digest, content = ''] = SEALED.exec(bytes.toString('latin1')) ?? []
  const own = Buffer.from(content, 'latin1')
  return digest === undefined || hash('sha256', own) !== digest ? undefined : JSON.parse(own.toString('utf8'))
}
