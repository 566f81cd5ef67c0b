import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Example } from '../../src/serve/describe/examples.ts'
import { fetchDescribed } from './described.ts'
import { ROOT } from './places.ts'

const FILE = join(ROOT, 'src', 'serve', 'api', 'examples.json')

/** What is another at each asking: the log's id, the build, and the present. */
const PASSING: ReadonlySet<string> = new Set(['log', 'logId', 'version', 'now', 'ageMs'])
/** The present and the chance in what a stream says. */
const PASSING_TEXT = /(?<=^retry: )\d+|(?<="live":(?:true|false),)"at":"[^"]+","atMs":\d+/gm

/** Asks again for what an example shows: of a stream all until it is live. */
export async function capture(base: string, { request, type }: Example): Promise<unknown> {
  const isStream = request.startsWith('/api/v1/stream')
  const response = await fetchDescribed(`${base}${request}`, { headers: isStream ? { accept: type } : {} })
  const said = response.headers.get('content-type')?.split(';', 1)[0]
  if (said !== type) throw new Error(`${request} answers ${said}`)
  if (isStream) return untilLive(response)
  return type.endsWith('json') ? response.json() : response.text()
}

async function untilLive(response: Response): Promise<string> {
  let said = ''
  for await (const bytes of response.body ?? []) {
    said += Buffer.from(bytes).toString()
    // Leaving the loop closes the stream.
    if (/"live":true.*\n/.test(said)) return said
  }
  throw new Error('the stream ended before it was live')
}

/** A value without what is another at each asking. */
export function lasting(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll(PASSING_TEXT, '')
  if (Array.isArray(value)) return value.map(lasting)
  if (Object(value) !== value) return value
  const entries = Object.entries(Object(value))
  return Object.fromEntries(entries.map(([key, each]) => [key, PASSING.has(key) ? null : lasting(each)]))
}

/** Writes the examples anew: for a change of the format that is meant. */
export function keep(examples: readonly Example[]): void {
  const lines = examples.map((example) => JSON.stringify(example))
  writeFileSync(FILE, `[\n${lines.join(',\n')}\n]\n`)
}
