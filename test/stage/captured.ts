import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fetchDescribed } from './described.ts'
import { ROOT } from './places.ts'
import type { Example } from '../../src/serve/describe/openapi.ts'

const FILE = join(ROOT, 'src', 'serve', 'describe', 'examples.json')

/** Fields that change with each request or build: the log's id, the version, and the present. */
const VARIABLE_FIELDS: ReadonlySet<string> = new Set(['log', 'logId', 'version', 'now', 'ageMs'])
/** Random retry times, and the present, in the text of a stream. */
const VARIABLE_TEXT = /(?<=^retry: )\d+|(?<="live":(?:true|false),)"at":"[^"]+","atMs":\d+/gm

/** Fetches the answer of an example again. A stream is read until it is live. */
export async function fetchExample(base: string, { request, type }: Example): Promise<unknown> {
  const isStream = request.startsWith('/api/v1/stream')
  const response = await fetchDescribed(`${base}${request}`, { headers: isStream ? { accept: type } : {} })
  const contentType = response.headers.get('content-type')?.split(';', 1)[0]
  if (contentType !== type) throw new Error(`${request} answers ${contentType}`)
  if (isStream) return untilLive(response)
  return type.endsWith('json') ? response.json() : response.text()
}

async function untilLive(response: Response): Promise<string> {
  let text = ''
  for await (const bytes of response.body ?? []) {
    text += Buffer.from(bytes).toString()
    // Leaving the loop closes the stream.
    if (/"live":true.*\n/.test(text)) return text
  }
  throw new Error('the stream ended before it was live')
}

/** A value without the parts that change with each request. */
export function withoutVariable(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll(VARIABLE_TEXT, '')
  if (Array.isArray(value)) return value.map(withoutVariable)
  if (Object(value) !== value) return value
  const entries = Object.entries(Object(value))
  return Object.fromEntries(
    entries.map(([key, each]) => [key, VARIABLE_FIELDS.has(key) ? null : withoutVariable(each)]),
  )
}

/** Writes the examples, after an intended change of the format. */
export function writeExamples(examples: readonly Example[]): void {
  const lines = examples.map((example) => JSON.stringify(example))
  writeFileSync(FILE, `[\n${lines.join(',\n')}\n]\n`)
}
