import { hash } from 'node:crypto'

const SEALED = /^\{"sha256":"([0-9a-f]{64})","content":(.*)\}\n$/s

/** Formats a value as JSON beside the SHA-256 of its bytes, so that a damaged file shows. */
export function formatSealed(value: unknown): string {
  const content = JSON.stringify(value)
  return `{"sha256":"${hash('sha256', content)}","content":${content}}\n`
}

/** Parses what `formatSealed` has made. Undefined for any other bytes, such as those with a flipped bit. */
export function parseSealed(bytes: Buffer): unknown {
  // Each byte is a character here, so that no two texts of bytes are alike.
  const [, digest, content = ''] = SEALED.exec(bytes.toString('latin1')) ?? []
  const own = Buffer.from(content, 'latin1')
  return digest === undefined || hash('sha256', own) !== digest ? undefined : JSON.parse(own.toString('utf8'))
}
