import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { openFrames } from '../../../src/client/frames.ts'
import { streamLines } from '../../../src/client/lines.ts'
import { streamEntry } from '../../../src/mirror/origin/page-entries.ts'
import { firstPins } from '../../../src/mirror/proof/origin-keys.ts'
import { parseMonth } from '../../../src/protocol/moment.ts'
import { parseBody } from '../../../src/publish/admission/draft-body.ts'
import { parseLine, parseObject } from '../../../src/publish/admission/draft-json.ts'
import { parseDraft } from '../../../src/publish/admission/grammar.ts'
import { firstPosition, unpacked, unpackedLines } from '../../../src/verify/reading/month-entries.ts'
import { readDetailsLine, readEventLine } from '../../../src/verify/reading/entry-lines.ts'
import { readObject } from '../../../src/verify/reading/json-values.ts'
import { parseServedManifest } from '../../../src/verify/reading/manifest.ts'
import { textOf } from '../../stage/document.ts'
import { ROOT } from '../../stage/places.ts'
import { PUBLISHING, FILE, OPAQUE } from '../../story/draft-examples.ts'
import { ACCEPTED, type AttackedParser, type Outcome, REFUSED } from './attacked-parser.ts'

const DRAFT_LINES = textOf('test/sample/sample.drafts.jsonl').split('\n').slice(0, 60)
/** A draft of every type and kind. */
const GOLDEN_LINES = textOf('test/golden/drafts.jsonl')
  .split('\n')
  .filter((line) => line !== '')
/** The same without a moment, as a publish request has them. */
const withoutMoment = (line: string): string => line.replace(/"at":"[^"]*",/, '')
const SENT_LINES = DRAFT_LINES.map(withoutMoment)
const EVENT = {
  seq: 1,
  type: 'trade',
  kind: 'buy',
  at: '2026-10-01T00:00:00.000Z',
  atMs: 1_790_812_800_000,
  contestId: null,
  kots: '1.000000000',
  tx: null,
} as const
const EVENT_LINE = JSON.stringify(EVENT)
const DETAILS_LINE = '{"seq":1,"details":{"title":"A title","price":"0.000000000001"}}'
const SSE = `retry: 3000\n\nevent: position\nid: 1\ndata: {"seq":1,"head":9,"live":false,"at":"x","atMs":1}\n\n: comment\nid: 1\ndata: ${EVENT_LINE}\n\nevent: details\r\ndata: ${DETAILS_LINE}\r\n\r\n`
const MANIFEST = textOf('test/golden/end/archive/2026-03.json')
const MONTH = parseMonth('2026-03')
const GOLDEN_MONTH = readFileSync(join(ROOT, 'test/golden/end/archive/2026-03.jsonl.gz'))
const GOLDEN_DETAILS = gunzipSync(
  readFileSync(join(ROOT, 'test/golden/end/archive/2026-03.details.jsonl.gz')),
)
  .toString()
  .split('\n')
  .slice(0, 30)

/** Runs a parser whose refusals are errors. */
const ran = (run: () => unknown): Outcome => {
  run()
  return ACCEPTED
}

/** Bytes as the body of an answer, in two pieces. */
const streamOf = (bytes: Buffer): ReadableStream<Uint8Array<ArrayBuffer>> =>
  ReadableStream.from(
    [bytes.subarray(0, bytes.length >> 1), bytes.subarray(bytes.length >> 1)].map(
      (piece) => new Uint8Array(piece),
    ),
  )

/** Parsers of JSON, lines, frames and files. */
export const STREAM_PARSERS: readonly AttackedParser[] = [
  ...[PUBLISHING, OPAQUE, FILE].map((source): AttackedParser => ({
    name: `a draft (${source.mode}, ${source.chain})`,
    valid:
      source === PUBLISHING
        ? SENT_LINES
        : source === FILE
          ? [...DRAFT_LINES, ...GOLDEN_LINES]
          : GOLDEN_LINES.map(withoutMoment),
    read(bytes) {
      const json = parseLine(bytes.toString('utf8'))
      return json.ok && parseDraft(json.value, source).ok ? ACCEPTED : REFUSED
    },
  })),
  ...[true, false].map((isLines): AttackedParser => ({
    name: `the body of a publish request (${isLines ? 'lines' : 'an array'})`,
    valid: isLines
      ? [SENT_LINES.slice(0, 5).join('\n'), '']
      : [`[${SENT_LINES.slice(0, 5).join(',')}]`, '[]'],
    async read(bytes) {
      return (await parseBody(bytes, isLines, PUBLISHING.chain)).ok ? ACCEPTED : REFUSED
    },
  })),
  {
    name: 'the body of a decision',
    valid: ['{"refs":["a","b"],"reason":"seen on the chain"}'],
    read: (bytes) => (parseObject(bytes.toString('utf8')).ok ? ACCEPTED : REFUSED),
  },
  {
    name: 'frames of a stream',
    valid: [SSE, textOf('test/golden/end/events/stream-filtered.sse')],
    throws: ['DaybookError'],
    async read(bytes) {
      const frame = openFrames()
      let frames = 0
      for await (const lines of streamLines(streamOf(bytes)))
        for (const line of lines) if (frame(line) !== undefined) frames += 1
      return frames > 0 ? ACCEPTED : REFUSED
    },
  },
  {
    name: 'events of a stream, in a mirror',
    valid: [`${EVENT_LINE}\n${DETAILS_LINE}`],
    throws: ['WrongError', 'SyntaxError'],
    read(bytes) {
      const [event = '', details = ''] = bytes.toString('utf8').split('\n')
      return ran(() =>
        streamEntry(Object(JSON.parse(event)), Object(JSON.parse(details)).details, firstPosition().next),
      )
    },
  },
  {
    name: 'a line of a month',
    valid: [EVENT_LINE],
    throws: ['WrongError'],
    read: (bytes) => ran(() => readEventLine(bytes.toString('utf8'), firstPosition().next)),
  },
  {
    name: 'a line of details',
    valid: [DETAILS_LINE, ...GOLDEN_DETAILS],
    throws: ['WrongError'],
    read: (bytes) => ran(() => readDetailsLine('a file', bytes.toString('utf8'))),
  },
  {
    name: 'a month file',
    valid: [gzipSync(`${EVENT_LINE}\n`), gzipSync(''), GOLDEN_MONTH],
    throws: ['WrongError'],
    async read(bytes) {
      const { next } = firstPosition()
      for await (const lines of unpackedLines('a file', unpacked('a file', bytes)))
        for (const line of lines) readEventLine(line, next)
      return ACCEPTED
    },
  },
  {
    name: 'a manifest',
    valid: [MANIFEST],
    throws: ['WrongError'],
    read: (bytes) =>
      MONTH === undefined
        ? REFUSED
        : ran(() => parseServedManifest('a file', readObject('a file', bytes), MONTH)),
  },
  {
    name: 'a list of keys',
    valid: [textOf('test/golden/end/log/keys.json')],
    throws: ['WrongError'],
    read: (bytes) => ran(() => firstPins(bytes)),
  },
]
