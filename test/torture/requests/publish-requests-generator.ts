import type { Random } from '../../../sim/random.ts'
import { DRAFTS_MAX, PUBLISH_BYTES_MAX } from '../../../src/protocol/draft.ts'
import { PUBLISH_TOKEN } from '../../stage/publish-stage.ts'
import { hostileText, MARK } from './hostile-values.ts'
import { mutated } from './mutations.ts'

/** A request to the private listener, and how it is sent. */
export type PublishRequest = Readonly<{
  method: string
  head: readonly string[]
  body: Buffer
  /** The body before it was divided into chunks. */
  plain: Buffer
  /** Whether fewer bytes are sent than the request says. */
  isCut: boolean
  /** Parts that no refusal may repeat, in lower case. */
  secrets: readonly string[]
}>

type Sent = Record<string, unknown>

/** Numbers and texts that JSON parsers read in different ways. They stand in the text as they are. */
const RAW_VALUES = [
  '1e999',
  '-1e999',
  '-0',
  '0.1e1',
  '1E2',
  '1.0',
  '01',
  '9007199254740993',
  '"\\ud800"',
  '"\\u0000"',
  '"\\u202e"',
  '"1e3"',
  '"-0"',
  '"-1"',
  '"0.0000000001"',
  '"9999999999999999999"',
  '{"__proto__":{"polluted":1}}',
  '[[[[[[[[1]]]]]]]]',
  'null',
  'true',
  '[]',
  '{}',
  '""',
] as const
const KEYS = ['__proto__', 'constructor', 'toString', 'at', 'seq', 'Type', MARK] as const
const TYPES = [
  'application/json',
  'application/json; charset=utf-8',
  'APPLICATION/JSON',
  'application/x-ndjson',
  'text/plain',
  'application/x-www-form-urlencoded',
  '',
  `application/${MARK}`,
] as const
const TARGETS = [
  '/publish?x=1',
  '/publish/',
  '//publish',
  '/PUBLISH',
  '/held',
  `/held?after=${MARK}`,
  '/held?limit=5&limit=6',
  '/held/release',
  '/held/vouch',
  '/held/drop',
  '/cluster/lead',
  '/livez',
  `/${MARK}`,
  '/api/v1/summary',
  '/..',
] as const
const TOKENS = [
  '',
  'Bearer',
  'Bearer x',
  `Bearer ${PUBLISH_TOKEN}x`,
  `Bearer ${MARK}`,
  `Basic ${PUBLISH_TOKEN}`,
] as const

/** Opens an endless series of requests. Each draft of it has a ref of its own, but for those that are sent again. */
export function openPublishRequests(random: Random): () => PublishRequest {
  let refs = 0
  let contests = 0
  const seen: Sent[] = []

  function validDraft(): Sent {
    const old = seen[random.below(seen.length)]
    if (old !== undefined && random.chance(0.1)) return old
    refs += 1
    const ref = `${random.pick(['r', 'ünïcode ', '😀'])}${refs}`
    const kots = random.pick(['1', '0.5', '12.000000001'])
    const draft = random.pick<Sent>([
      { ref, type: 'trade', kind: 'buy', kots },
      { ref, type: 'trade', kind: 'sell', kots },
      { ref, type: 'treasury', kind: 'deposit', kots, tx: `transaction-${refs}` },
      { ref, type: 'burn', kind: 'platform_income', kots },
      { ref, type: 'price', kind: 'usd', details: { price: '0.25' } },
      {
        ref,
        type: 'contest',
        kind: 'scheduled',
        contestId: (contests += 1),
        details: { title: 'A title', opensAt: '2027-01-01', closesAt: '2027-02-01' },
      },
    ])
    seen.push(draft)
    return draft
  }

  /** Replaces a value, adds a key, repeats one, or takes one away, in the text of a draft. */
  function damagedText(draft: Sent, secrets: string[]): string {
    const keys = Object.keys(draft)
    const key = keys[random.below(keys.length)] ?? 'ref'
    const members = Object.entries(draft).map(
      ([name, value]) => [name, JSON.stringify(value)] as [string, string],
    )
    const hostile = (): string => {
      const { text, secrets: own } = hostileText(random)
      secrets.push(...own)
      return JSON.stringify(text)
    }
    const value = random.chance(0.6) ? random.pick(RAW_VALUES) : hostile()
    const at = members.findIndex(([name]) => name === key)
    switch (random.below(5)) {
      case 0:
      case 1:
        members[at] = [key, value]
        break
      case 2:
        members.push([random.chance(0.5) ? random.pick(KEYS) : key, value])
        break
      case 3:
        members.splice(at, 1)
        break
      default:
        members[at] = [random.pick(KEYS), members[at]?.[1] ?? '1']
    }
    return `{${members.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join()}}`
  }

  function bodyOf(secrets: string[]): Readonly<{ bytes: Buffer; type: string }> {
    if (random.chance(0.01)) {
      const drafts = Array.from({ length: DRAFTS_MAX + 1 }, () => '{}')
      return { bytes: Buffer.from(`[${drafts.join()}]`), type: 'application/json' }
    }
    const drafts = Array.from({ length: random.between(0, 5) }, validDraft)
    const texts = drafts.map((draft) =>
      random.chance(0.2) ? damagedText(draft, secrets) : JSON.stringify(draft),
    )
    const isLines = random.chance(0.3)
    const text = isLines ? texts.join(random.pick(['\n', '\r\n', '\n\n'])) : `[${texts.join()}]`
    const type = isLines ? 'application/x-ndjson' : 'application/json'
    const bytes = Buffer.from(text)
    switch (random.below(12)) {
      case 0:
        return { bytes: Buffer.concat([Buffer.from('\ufeff'), bytes]), type }
      case 1:
        return { bytes: Buffer.concat([bytes, Buffer.of(0xc0, 0x80)]), type }
      case 2:
      case 3:
        return {
          bytes: Buffer.from(mutated(random, bytes, Buffer.from(JSON.stringify(seen.at(-1) ?? {})))),
          type,
        }
      case 4:
        return { bytes, type: isLines ? 'application/json' : 'application/x-ndjson' }
      default:
        return { bytes, type }
    }
  }

  return () => {
    const secrets: string[] = []
    const { bytes, type } = bodyOf(secrets)
    const some = <Value>(probability: number, usual: Value, other: () => Value): Value =>
      random.chance(probability) ? other() : usual
    const target = some(0.08, '/publish', () => random.pick(TARGETS))
    const method = some(0.04, 'POST', () => random.pick(['GET', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH']))
    const token = some(0.04, `Bearer ${PUBLISH_TOKEN}`, () => random.pick(TOKENS))
    const lines = [`${method} ${target} HTTP/1.1`, 'Host: publish.test', 'Connection: close']
    if (token !== '') lines.push(`Authorization: ${token}`)
    const given = some(0.05, type, () => random.pick(TYPES))
    if (given !== '') lines.push(`Content-Type: ${given}`)
    if (random.chance(0.02)) lines.push(`Content-Encoding: ${random.pick(['gzip', 'identity', MARK])}`)
    if (random.chance(0.05)) lines.push(`Expect: ${random.pick(['100-continue', '100-continue', MARK])}`)
    if (random.chance(0.02)) lines.push(`Daybook-Log: ${MARK}`)
    const isCut = random.chance(0.05)
    const isChunked = random.chance(0.3)
    if (isChunked) lines.push('Transfer-Encoding: chunked')
    else {
      const more = isCut ? random.between(1, 100) : 0
      const tooLong = random.chance(0.01) ? PUBLISH_BYTES_MAX + 1 : 0
      lines.push(`Content-Length: ${tooLong === 0 ? bytes.length + more : tooLong}`)
    }
    const body = isChunked ? chunked(bytes, isCut, random) : bytes
    return { method, head: lines, body, plain: bytes, isCut, secrets }
  }
}

/** A body in chunks of any length; without the last one when it is cut. */
function chunked(bytes: Buffer, isCut: boolean, random: Random): Buffer {
  const parts: Buffer[] = []
  for (let at = 0; at < bytes.length;) {
    const part = bytes.subarray(at, at + random.between(1, Math.max(1, bytes.length)))
    parts.push(Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n'))
    at += part.length
  }
  return Buffer.concat([...parts, Buffer.from(isCut ? '' : '0\r\n\r\n')])
}
