import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { after, before, suite, test } from 'node:test'
import type { ServerResponse } from 'node:http'
import { gunzipSync, gzipSync } from 'node:zlib'
import {
  deflateSegment,
  GZIP_HEADER,
  gzipTrailer,
  addToSum,
  EMPTY_SUM,
} from '../../src/log/archive/gzip-member.ts'
import { hasStore, storePath } from '../../src/log/store/store.ts'
import { openSigner } from '../../src/log/tree/signer.ts'
import { parseCheckpoint } from '../../src/tlog/checkpoint.ts'
import { basename } from 'node:path'
import { OTHER_KEY, TEST_KEY } from '../story/signing.ts'
import { type Changes, endless, openChangingProxy } from './changing-proxy.ts'
import { NEW_LOG, openMirror, openOrigin, vkeyOf } from './mirroring-stage.ts'

type Origin = Awaited<ReturnType<typeof openOrigin>>

const EVENTS = 1_500
const FIRST = '2026-03'
const BOMB_BYTES = 20_000_000
let forged: Buffer
let unpacking: Buffer
let packed: Buffer
const MONTHS = { archiveEventsMin: 200 }

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
const archiveOf =
  (file: () => Buffer): NonNullable<Changes['body']> =>
  (path, body) => {
    if (path === `archive/${FIRST}.jsonl.gz`) return file()
    if (path !== `archive/${FIRST}.json`) return body
    const digest = (bytes: Buffer): object => ({
      bytes: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
    })
    const manifest = JSON.parse(body.toString())
    return Buffer.from(
      JSON.stringify({ ...manifest, gzip: digest(file()), lines: digest(gunzipSync(file())) }),
    )
  }

/** A small file that unpacks to far more than the events of a month can have. */
function bomb(): Buffer {
  const raw = Buffer.alloc(BOMB_BYTES, '\n')
  return Buffer.concat([GZIP_HEADER, deflateSegment(raw), gzipTrailer(addToSum(EMPTY_SUM, raw))])
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
    archiveOf(() => forged),
    /the tree at the end of 2026-03 is not the one that the log signed/,
  ],
  [
    'a month file that unpacks without end',
    archiveOf(() => unpacking),
    /2026-03\.jsonl\.gz: has a segment that cannot be unpacked/,
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
    /seq 1 is missing, and a checkpoint covers it/,
  ],
  ['a line that Daybook does not write', only('events', replaced('"seq":3,', '"seq":3,"x":1,')), /seq 3: /],
]

/** Sends bytes for as long as they are taken. */
function sendOn(response: ServerResponse, piece: Buffer): void {
  response.flushHeaders()
  endless(piece).pipe(response)
}

/** Answers that do not end, or not in time. */
const ENDLESS: readonly (readonly [
  name: string,
  path: string,
  send: (response: ServerResponse) => void,
  reason: RegExp,
])[] = [
  [
    'a list of keys without end',
    'log/keys',
    (response) => sendOn(response, Buffer.alloc(65_536, ' ')),
    /more than 1048576 bytes/,
  ],
  [
    'a month file that is longer than its manifest says',
    `archive/${FIRST}.jsonl.gz`,
    (response) => sendOn(response, Buffer.alloc(65_536)),
    /more than \d+ bytes/,
  ],
  [
    'a packed answer that unpacks to more than an answer may have',
    'status',
    (response) => {
      response.setHeader('content-encoding', 'gzip')
      response.end(packed)
    },
    /more than 65536 bytes/,
  ],
  [
    'an answer of one byte at a time',
    'log/keys',
    (response) => {
      const timer = setInterval(() => response.write(' '), 10)
      response.on('close', () => clearInterval(timer))
    },
    /too slowly/,
  ],
]

suite('a first build from a tampered origin', () => {
  let origin: Origin
  before(async () => {
    origin = await openOrigin(EVENTS)
    const file = await fetch(`${origin.url()}/api/v1/archive/${FIRST}.jsonl.gz`)
    forged = forgedMonth(Buffer.from(await file.arrayBuffer()))
    unpacking = bomb()
    packed = gzipSync(Buffer.alloc(BOMB_BYTES, ' '))
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

  test('asks four times for a file that breaks off each time, and can go on at the next build', async () => {
    await using proxy = await openChangingProxy(origin.url())
    await using mirror = openMirror(() => proxy.url, MONTHS)
    const file = `archive/${FIRST}.jsonl.gz`
    proxy.change({
      answer(path, response) {
        if (path !== file) return false
        response.writeHead(200, { 'content-length': '5000' })
        response.write('part', () => response.destroy())
        return true
      },
    })
    await assert.rejects(mirror.build(), /2026-03\.jsonl\.gz: the connection failed/)
    assert.equal(proxy.asked.filter((path) => path === file).length, 4)
    assert.deepEqual(mirror.evidence(), {}, 'it contradicts nothing')
    proxy.change({})
    assert.deepEqual(await mirror.build(), { is: 'ready', events: EVENTS, resumed: true })
  })

  test('is refused by a pinned key that is not the log’s', async () => {
    await using mirror = openMirror(origin.url, MONTHS)
    await assert.rejects(
      mirror.build({ vkeys: [vkeyOf(OTHER_KEY)] }),
      /the key that you trust is not among the keys/,
    )
    assert.deepEqual(mirror.evidence(), {}, 'it may be the mistake of the operator')
    const right = await mirror.build({ vkeys: [vkeyOf(TEST_KEY)] })
    assert.equal(right.is, 'ready')
  })

  for (const [name, path, send, reason] of ENDLESS) {
    test(`gives up, and has no store: ${name}`, async () => {
      await using proxy = await openChangingProxy(origin.url())
      await using mirror = openMirror(() => proxy.url, MONTHS)
      proxy.change({
        answer(asked, response) {
          if (asked !== path) return false
          // The mirror closes the connection.
          response.on('error', () => undefined)
          send(response)
          return true
        },
      })
      await assert.rejects(mirror.build(), reason)
      assert.equal(hasStore(mirror.data), false)
    })
  }
})
