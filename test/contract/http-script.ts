import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { type IncomingHttpHeaders, request } from 'node:http'
import { request as requestTls } from 'node:https'

/** One request of a script, and the checks of its answer. */
export type Step = Readonly<{
  /** The sentence above the request, or else the request itself. */
  name: string
  method: string
  target: string
  headers: Readonly<Record<string, string>>
  /** Text that ends the reading of an endless answer; null reads to the end. */
  until: string | null
  checks: readonly string[]
}>

export type Answer = Readonly<{ target: string; code: number; headers: IncomingHttpHeaders; body: Buffer }>

/** Values that earlier steps captured, by name. */
export type Captures = Map<string, string>

const REQUEST = /^(GET|HEAD|OPTIONS|POST|PUT|PATCH|DELETE) ([/$]\S*)$/
const HEADER = /^([A-Za-z][A-Za-z0-9-]*): (.*)$/
const CHECK =
  /^(?:capture (?<name>\w+) = )?(?<part>code|header|body|json|sha256)(?: (?<path>[^"=\s]\S*))??(?: (?<test>==|!=|contains|matches|absent)(?: (?<value>.*))?)?$/
const ANSWER_MS_MAX = 30_000

/** Parses a script: sentences after `#`, a request, its header lines, and checks. Throws on any other line. */
export function parseScript(text: string): readonly Step[] {
  const steps: { -readonly [K in keyof Step]: Step[K] }[] = []
  let sentence: string[] = []
  for (const line of text.split('\n').map((each) => each.trim())) {
    const step = steps.at(-1)
    const [, method, target] = REQUEST.exec(line) ?? []
    const [, header, value] = HEADER.exec(line) ?? []
    if (line === '') continue
    if (line.startsWith('#')) {
      sentence.push(line.slice(1).trim())
    } else if (method !== undefined && target !== undefined) {
      const name = sentence.join(' ') || `${method} ${target}`
      steps.push({ name, method, target, headers: {}, until: null, checks: [] })
      sentence = []
    } else if (step !== undefined && line.startsWith('until ')) {
      step.until = line.slice('until '.length)
    } else if (step !== undefined && header !== undefined && value !== undefined) {
      step.headers = { ...step.headers, [header]: value }
    } else if (step !== undefined && CHECK.test(line)) {
      step.checks = [...step.checks, line]
    } else {
      throw new Error(`not a request, header or check of a script: ${line}`)
    }
  }
  return steps
}

const filled = (text: string, captures: Captures): string =>
  text.replaceAll(/\$([a-z]\w*)/gi, (_, name: string) => {
    const value = captures.get(name)
    assert.ok(value !== undefined, `nothing was captured as ${name}`)
    return value
  })

/** Sends the request without normalising its path, and reads the answer. */
export async function ask(base: string, step: Step, captures: Captures): Promise<Answer> {
  const { protocol, hostname, port } = new URL(base)
  const send = protocol === 'https:' ? requestTls : request
  const headers = Object.fromEntries(
    Object.entries(step.headers).map(([name, value]) => [name, filled(value, captures)]),
  )
  const target = filled(step.target, captures)
  const options = { hostname, port, method: step.method, path: target, headers }
  const signal = AbortSignal.timeout(ANSWER_MS_MAX)
  return new Promise((resolve, reject) => {
    const outgoing = send({ ...options, agent: false, signal }, (incoming) => {
      const chunks: Buffer[] = []
      const done = (): void =>
        resolve({
          target,
          code: incoming.statusCode ?? 0,
          headers: incoming.headers,
          body: Buffer.concat(chunks),
        })
      incoming.on('error', reject)
      incoming.on('end', done)
      incoming.on('data', (chunk: Buffer) => {
        chunks.push(chunk)
        if (step.until === null || !Buffer.concat(chunks).includes(step.until)) return
        done()
        outgoing.destroy()
      })
    })
    outgoing.on('error', reject)
    outgoing.end()
  })
}

/** The value at a dotted path, such as `page.next` or `buckets.0.at`; `length` counts an array. */
function at(json: unknown, path: string): unknown {
  let value = json
  for (const name of path.split('.')) {
    value = Object(value) === value ? Reflect.get(Object(value), name) : undefined
  }
  return value
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' || value === undefined ? value : JSON.stringify(value)

function partOf(answer: Answer, part: string, path: string): string | undefined {
  if (part === 'code') return String(answer.code)
  if (part === 'header') return textOf(answer.headers[path.toLowerCase()])
  if (part === 'json') return textOf(at(JSON.parse(answer.body.toString()), path))
  if (part === 'sha256') return createHash('sha256').update(answer.body).digest('hex')
  return answer.body.toString()
}

/** Checks an answer against one line of a script, and captures the value that the line names. */
export function check(line: string, answer: Answer, captures: Captures): void {
  const { name, part = '', path = '', test, value = '' } = CHECK.exec(line)?.groups ?? {}
  const actual = partOf(answer, part, path)
  const wanted = filled(value, captures)
  const shown = `${line}\n  wanted: ${wanted}\n  was: ${actual?.slice(0, 500)}\n  code: ${answer.code}`
  if (name !== undefined) {
    // `matches` captures its first group, other checks the whole value.
    const captured = test === 'matches' ? new RegExp(wanted, 'u').exec(actual ?? '')?.[1] : actual
    assert.ok(captured !== undefined, shown)
    captures.set(name, captured)
  }
  if (test === '==') assert.ok(actual === wanted, shown)
  if (test === '!=') assert.ok(actual !== wanted, shown)
  if (test === 'contains') assert.ok(actual?.includes(wanted), shown)
  if (test === 'matches') assert.ok(actual !== undefined && new RegExp(wanted, 'u').test(actual), shown)
  if (test === 'absent') assert.ok(value === '' ? actual === undefined : !actual?.includes(wanted), shown)
}
