import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { after, before, suite, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import {
  deflateSegment,
  GZIP_HEADER,
  gzipTrailer,
  addToSum,
  EMPTY_SUM,
} from '../../src/log/archive/gzip-member.ts'
import { storePath } from '../../src/log/store/store.ts'
import { openSigner } from '../../src/log/tree/signer.ts'
import { parseCheckpoint } from '../../src/tlog/checkpoint.ts'
import { basename } from 'node:path'
import { OTHER_KEY, TEST_KEY } from '../story/signing.ts'
import type { Changes } from './changing-proxy.ts'
import { openChangingProxy } from './changing-proxy.ts'
import { NEW_LOG, openMirror, openOrigin, vkeyOf } from './mirror-stage.ts'

type Origin = Awaited<ReturnType<typeof openOrigin>>

const EVENTS = 5_000
const FIRST = '2026-03'
let forged: Buffer
const MONTHS = { archiveEventsMin: 500 }

/** Changes one answer and no other. */
const only =
  (path: string, change: (body: Buffer) => Buffer | undefined): NonNullable<Changes['body']> =>
  (asked, body) =>
    asked === path ? change(body) : body

const replaced =
  (from: string | RegExp, to: string) =>
  (body: Buffer): Buffer =>
    Buffer.from(body.toString().replace(from, to))

/** Another file of a month with other lines, as a dishonest archive would make it. */
function forgedMonth(file: Buffer): Buffer {
  const raw = Buffer.from(gunzipSync(file).toString().replace('"kots":"1', '"kots":"2'))
  return Buffer.concat([GZIP_HEADER, deflateSegment(raw), gzipTrailer(addToSum(EMPTY_SUM, raw))])
}

/** Changes a month file, and its manifest so that both agree. */
const forgedArchive: NonNullable<Changes['body']> = (path, body) => {
  if (path === `archive/${FIRST}.jsonl.gz`) return forged
  if (path !== `archive/${FIRST}.json`) return body
  const digest = (bytes: Buffer): object => ({
    bytes: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
  })
  const manifest = JSON.parse(body.toString())
  return Buffer.from(JSON.stringify({ ...manifest, gzip: digest(forged), lines: digest(gunzipSync(forged)) }))
}

/** A checkpoint of the same text, signed with another key. */
function signedByOther(note: Buffer): Buffer {
  const text = note.toString().slice(0, note.toString().indexOf('\n\n') + 1)
  const tree = parseCheckpoint(text)
  assert.ok(tree !== undefined)
  return Buffer.from(openSigner(NEW_LOG.origin, [OTHER_KEY]).sign(tree).note)
}

/** Tampered answers of a first build, and what the mirror says. */
const BUILDS: readonly (readonly [name: string, body: NonNullable<Changes['body']>, reason: RegExp])[] = [
  [
    'a month file with a changed byte',
    only(`archive/${FIRST}.jsonl.gz`, (body) =>
      Buffer.concat([body.subarray(0, 99), Buffer.from([1]), body.subarray(100)]),
    ),
    /2026-03\.jsonl\.gz: its SHA-256 is not that of its manifest/,
  ],
  [
    'a month file that is shorter',
    only(`archive/${FIRST}.details.jsonl.gz`, (body) => body.subarray(0, -1)),
    /details\.jsonl\.gz: its size is not that of its manifest/,
  ],
  [
    'a month file with other lines, and a manifest that agrees with it',
    forgedArchive,
    /the tree at the end of 2026-03 is not the one that the log signed/,
  ],
  [
    'a manifest with a forged checkpoint',
    only(`archive/${FIRST}.json`, replaced(/— (\S+) \S{10}/, '— $1 AAAAAAAAAA')),
    /2026-03\.json: no known key has signed the note/,
  ],
  [
    'a manifest of another tree',
    only(`archive/${FIRST}.json`, replaced(/"size":\d+/, '"size":7')),
    /2026-03\.json/,
  ],
  [
    'a list of keys of another log',
    only('log/keys', replaced(/"logId":"[0-9a-f]+"/, `"logId":"${'0'.repeat(32)}"`)),
    /log\/keys: is of another log/,
  ],
  [
    'a checkpoint with a changed root',
    only('log/checkpoint', replaced(/\n(\d+)\n.{4}/, '\n$1\nAAAA')),
    /signature by a known key does not hold/,
  ],
  [
    'a checkpoint of an unknown key',
    only('log/checkpoint', signedByOther),
    /no known key has signed the note/,
  ],
]

/** Tampered pages of a first build from pages. */
const PAGES: readonly (readonly [name: string, body: NonNullable<Changes['body']>, reason: RegExp])[] = [
  ['an amount', only('events', replaced('"kots":"1', '"kots":"2')), /is not the one that the log signed/],
  ['a missing event', only('events', replaced(/\{"seq":5,[^}]*\},/, '')), /seq 5: is missing/],
  ['a detail', only('events', replaced('"title":"', '"title":"x')), /is not the one that the log signed/],
  [
    'missing details',
    only('events', replaced(/"details":\{.*\}/s, '"details":{}}')),
    /is not the one|the books refuse/,
  ],
  [
    'no events at all',
    only('events', replaced(/"events":\[.*\],"details"/s, '"events":[],"details"')),
    /seq 1: is missing/,
  ],
  ['a line that Daybook does not write', only('events', replaced('"seq":3,', '"seq":3,"x":1,')), /seq 3: /],
]

suite('a first build from a tampered origin', () => {
  let origin: Origin
  before(async () => {
    origin = await openOrigin(EVENTS)
    const file = await fetch(`${origin.url()}/api/v1/archive/${FIRST}.jsonl.gz`)
    forged = forgedMonth(Buffer.from(await file.arrayBuffer()))
  })
  after(() => origin[Symbol.asyncDispose]())

  for (const [table, settings] of [
    [BUILDS, MONTHS],
    [PAGES, {}],
  ] as const) {
    for (const [name, body, reason] of table) {
      test(`stops with evidence and without a store: ${name}`, async () => {
        await using proxy = await openChangingProxy(origin.url())
        await using mirror = openMirror(() => proxy.url, settings)
        proxy.change({ body })
        const built = await mirror.build()
        assert.equal(built.is, 'contradicted')
        assert.match(built.is === 'contradicted' ? built.reason : '', reason)
        assert.ok(!readdirSync(mirror.data).includes(basename(storePath(mirror.data))))
        assert.match(mirror.evidence()['reason.txt'] ?? '', reason)
      })
    }
  }

  test('asks again for what was torn, and is complete', async () => {
    await using proxy = await openChangingProxy(origin.url())
    await using mirror = openMirror(() => proxy.url, MONTHS)
    const torn = new Map<string, number>()
    proxy.change({
      body(path, body) {
        const times = torn.get(path) ?? 0
        torn.set(path, times + 1)
        if (times > 0) return body
        return path.endsWith('.gz') ? body.subarray(0, 500) : undefined
      },
    })
    const built = await mirror.build()
    assert.deepEqual({ ...built, resumed: true }, { is: 'ready', events: EVENTS, resumed: true })
  })

  test('is refused by a pinned key that is not the log’s', async () => {
    await using mirror = openMirror(origin.url, MONTHS)
    const built = await mirror.build({ vkeys: [vkeyOf(OTHER_KEY)] })
    assert.equal(built.is, 'contradicted')
    assert.match(
      built.is === 'contradicted' ? built.reason : '',
      /the key that you trust is not among the keys/,
    )
    const right = await mirror.build({ vkeys: [vkeyOf(TEST_KEY)] })
    assert.equal(right.is, 'ready')
  })
})
