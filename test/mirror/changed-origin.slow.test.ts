import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { readHighWater } from '../../src/log/store/high-water.ts'
import { openSigner, type SigningKey } from '../../src/log/tree/signer.ts'
import { parseCheckpoint } from '../../src/tlog/checkpoint.ts'
import { OTHER_KEY, TEST_KEY } from '../story/signing.ts'
import { type Changes, openChangingProxy } from './changing-proxy.ts'
import { assertMirrors, NEW_LOG, openMirror, openOrigin, vkeyOf } from './mirroring-stage.ts'

const EVENTS = 60

type Origin = Awaited<ReturnType<typeof openOrigin>>

/** The origin of most tests, and one that has stopped, whose directory can be copied. */
let origin: Origin
let stopped: Origin

before(async () => {
  stopped = await openOrigin(EVENTS)
  await stopped.stop()
  origin = await openOrigin(stopped.data)
})
after(async () => {
  await origin[Symbol.asyncDispose]()
  await stopped[Symbol.asyncDispose]()
})

type Parts = Readonly<{
  proxy: Awaited<ReturnType<typeof openChangingProxy>>
  mirror: ReturnType<typeof openMirror>
  /** Events of the origin at the beginning. */
  head: number
}>

/** Runs a test with a mirror that follows an origin through a proxy, and has proved its checkpoint. */
async function following(run: (parts: Parts) => Promise<void>, of: Origin = origin): Promise<void> {
  await using proxy = await openChangingProxy(of.url())
  await using mirror = openMirror(() => proxy.url)
  await mirror.follow()
  await mirror.until(({ waits }) => waits === null)
  await run({ proxy, mirror, head: mirror.head() })
}

/** Waits until the mirror has stopped for good, and asserts why. */
async function stops(mirror: Parts['mirror'], reason: RegExp, head: number): Promise<void> {
  const { contradicted } = await mirror.until((state) => state.contradicted !== null)
  assert.match(contradicted?.reason ?? '', reason)
  assert.equal(mirror.head(), head)
  const files = mirror.evidence()
  assert.match(files['reason.txt'] ?? '', reason)
  assert.ok(Object.keys(files).includes('own.checkpoint'), Object.keys(files).join())
}

const bought = (text: string): string => text.replaceAll(/"kots":"(\d)/g, '"kots":"9$1')

/** The same tree with another root, signed with a key. */
function forged(note: Buffer, key: SigningKey): Buffer {
  const text = note.toString().slice(0, note.toString().indexOf('\n\n') + 1)
  const tree = parseCheckpoint(text)
  assert.ok(tree !== undefined)
  return Buffer.from(openSigner(NEW_LOG.origin, [key]).sign({ ...tree, root: new Uint8Array(32) }).note)
}

suite('a mirror whose stream is tampered with', () => {
  for (const [name, line] of [
    ['in an event', (text) => (text.startsWith('data: {"seq":') ? bought(text) : text)],
    ['in details', (text) => text.replace(/"price":"\d/, '"price":"7')],
    ['by leaving lines out', (text) => (text.includes('"type":"price"') ? '' : text)],
    ['by lines that are no JSON', (text) => (text.startsWith('data:') ? 'data: {' : text)],
  ] satisfies readonly (readonly [string, NonNullable<Changes['line']>])[]) {
    test(`${name}, shows the events of the pages`, () =>
      following(async ({ proxy, mirror, head }) => {
        proxy.change({ line })
        await origin.publish([{ ref: name, type: 'price', kind: 'usd', details: { price: '0.5' } }])
        await origin.trade(2)
        await mirror.reach(head + 3)
        assert.equal(mirror.state().contradicted, null)
        await mirror.stop()
        assertMirrors(mirror.data, origin.data)
      }))
  }

  test('and whose pages too, stops with evidence and shows none of it', () =>
    following(async ({ proxy, mirror, head }) => {
      proxy.change({
        line: (text) => (text.startsWith('data: {"seq":') ? bought(text) : text),
        body: (path, body) => (path === 'events' ? Buffer.from(bought(body.toString())) : body),
      })
      await origin.trade(2)
      await stops(mirror, /is not the one that the log signed/, head)
      assert.ok(Object.keys(mirror.evidence()).includes('events'))
    }))
})

suite('a mirror stops with evidence', () => {
  test('at a checkpoint that another key has signed', () =>
    following(async ({ proxy, mirror, head }) => {
      proxy.change({ body: (path, body) => (path === 'log/checkpoint' ? forged(body, OTHER_KEY) : body) })
      await stops(mirror, /no known key has signed the note/, head)
    }))

  test('at another tree of the same size, signed with the key of the log', () =>
    following(async ({ proxy, mirror, head }) => {
      proxy.change({ body: (path, body) => (path === 'log/checkpoint' ? forged(body, TEST_KEY) : body) })
      await stops(mirror, /FORK: the origin has signed another history of the first \d+ events/, head)
      const { 'own.checkpoint': own, 'served.checkpoint': served } = mirror.evidence()
      assert.notEqual(own, served)
    }))

  test('at a fork: a copy of the origin that went on with other events', async () => {
    await using other = await openOrigin(stopped.data)
    await following(async ({ proxy, mirror, head }) => {
      await origin.trade(3)
      await mirror.reach(head + 3)
      await other.publish([{ ref: 'x', type: 'trade', kind: 'sell', kots: '5' }])
      proxy.lead(other.url())
      await stops(mirror, /FORK/, head + 3)
    })
  })

  test('at a fork that is longer than what it has', async () => {
    await using other = await openOrigin(stopped.data)
    await following(async ({ proxy, mirror, head }) => {
      await origin.trade(1)
      await mirror.reach(head + 1)
      await other.publish([{ ref: 'x', type: 'trade', kind: 'sell', kots: '5' }])
      await other.trade(head - EVENTS + 9)
      proxy.lead(other.url())
      await stops(mirror, /is not the one that the log signed|`at` is earlier/, head + 1)
      assert.ok(Object.keys(mirror.evidence()).includes('served.checkpoint'))
    })
  })

  test('also when the evidence cannot be written at first, and serves what it has meanwhile', () =>
    following(async ({ proxy, mirror, head }) => {
      const blocked = join(mirror.data, 'evidence')
      writeFileSync(blocked, '')
      proxy.change({ body: (path, body) => (path === 'log/checkpoint' ? forged(body, TEST_KEY) : body) })
      const { contradicted } = await mirror.until(({ waits }) => waits === 'disk')
      assert.deepEqual([contradicted, mirror.head()], [null, head])
      // Nothing is followed any more.
      proxy.change({})
      rmSync(blocked)
      await stops(mirror, /FORK/, head)
    }))

  test('at a rollback: an older copy that stays', async () => {
    await using older = await openOrigin(stopped.data)
    await following(async ({ proxy, mirror, head }) => {
      await origin.trade(3)
      await mirror.reach(head + 3)
      proxy.lead(older.url())
      await stops(mirror, /ROLLBACK: the origin signed \d+ events and now shows 60/, head + 3)
    })
  })

  test('at another log', async () => {
    await using other = await openOrigin(5)
    await following(async ({ proxy, mirror, head }) => {
      proxy.lead(other.url())
      await stops(mirror, /another log now, which does not continue the mirrored one/, head)
    })
  })
})

/** The `mirror` that a followed mirror shows in `/status`. */
const shownMirror = (mirror: object) => (body: Buffer) =>
  Buffer.from(JSON.stringify({ ...JSON.parse(body.toString()), mirror }))

suite('a mirror of a mirror', () => {
  const FIRST = {
    of: 'https://first.example.net',
    state: 'waiting',
    behindMs: 5_000,
    provedAt: '2026-10-02T22:10:00.000Z',
    provedAtMs: Date.UTC(2026, 9, 2, 22, 10),
  }
  const times = (one: object, count: number): readonly object[] => Array.from({ length: count }, () => one)
  for (const [name, told, upstream, leastMs] of [
    ['knows that the first origin is gone, and how late it may be', { upstream: [] }, [FIRST], 5_000],
    [
      'passes on the mirrors that its origin names, up to the first malformed one',
      { state: 'following', behindMs: 7, upstream: [FIRST, { ...FIRST, of: 'javascript:alert(1)' }, FIRST] },
      [{ ...FIRST, state: 'following', behindMs: 7 }, FIRST],
      7,
    ],
    ['takes no address that is none', { of: 'javascript:alert(1)', upstream: [FIRST] }, [], 0],
    ['lists eight mirrors of a circle', { upstream: times(FIRST, 20) }, times(FIRST, 8), 5_000],
  ] as const) {
    test(name, () =>
      following(async ({ proxy, mirror, head }) => {
        const shown = { ...FIRST, originSeq: head + 4, ...told }
        proxy.change({ body: (path, body) => (path === 'status' ? shownMirror(shown)(body) : body) })
        await origin.trade(1)
        await mirror.reach(head + 1)
        const state = await mirror.until(({ originHead, waits }) => originHead === head + 4 && waits === null)
        assert.deepEqual(state.upstream, upstream)
        assert.deepEqual([mirror.head(), state.behindEvents, state.waits], [head + 1, 3, null])
        assert.ok(state.behindMs >= leastMs)
        proxy.change({})
        await mirror.until((now) => now.upstream.length === 0)
      }),
    )
  }
})

suite('a mirror goes on', () => {
  test('after an older checkpoint that a cache has shown for a while', () =>
    following(async ({ proxy, mirror, head }) => {
      const old = Buffer.from(await (await fetch(`${origin.url()}/api/v1/log/checkpoint`)).arrayBuffer())
      await origin.trade(2)
      await mirror.reach(head + 2)
      let times = 3
      proxy.change({ body: (path, body) => (path === 'log/checkpoint' && times-- > 0 ? old : body) })
      await origin.trade(1)
      await mirror.reach(head + 3)
      assert.equal(mirror.state().contradicted, null)
    }))

  test('after 429, and not before `Retry-After`', () =>
    following(async ({ proxy, mirror, head }) => {
      let refused = 0
      proxy.change({
        answer(path, response) {
          if (refused > 0 || path !== 'log/checkpoint') return false
          refused += 1
          response.writeHead(429, { 'retry-after': '40', 'content-type': 'application/problem+json' })
          response.end('{"code":"too-many-requests"}')
          return true
        },
      })
      await mirror.until(() => refused > 0)
      await mirror.until(({ fault }) => fault !== null)
      const asked = proxy.asked.length
      await origin.trade(1)
      assert.equal(proxy.asked.length, asked)
      await mirror.reach(head + 1)
    }))

  test('with a newer Daybook, after events that this one does not know', () =>
    following(async ({ proxy, mirror, head }) => {
      const newer = (text: string): string => text.replaceAll(/"price":"([\d.]+)"/g, '"price":"$1","newer":1')
      proxy.change({
        line: newer,
        body: (path, body) => (path === 'events' ? Buffer.from(newer(body.toString())) : body),
      })
      await origin.publish([{ ref: 'newer', type: 'price', kind: 'usd', details: { price: '0.7' } }])
      const { contradicted } = await mirror.until(
        ({ fault }) => fault?.includes('install a newer one') === true,
      )
      assert.equal(contradicted, null)
      assert.equal(mirror.head(), head)
      proxy.change({})
      await mirror.reach(head + 1)
    }))

  test('after pages without events that a checkpoint covers, such as of a node that lags', () =>
    following(async ({ proxy, mirror, head }) => {
      proxy.change({
        answer: (path, response) => path === 'stream' && response.destroy() !== undefined,
        body: (path, body) =>
          path === 'events'
            ? Buffer.from(
                body
                  .toString()
                  .replace(/"events":\[.*\],"page"/s, '"events":[],"page"')
                  .replace(/"events":\[.*\],"details"/s, '"events":[],"details"'),
              )
            : body,
      })
      await origin.trade(2)
      const { contradicted } = await mirror.until(({ fault }) => /is missing/.test(fault ?? ''))
      assert.equal(contradicted, null)
      proxy.change({})
      await mirror.reach(head + 2)
    }))
})

/** Changes the answers of one path. */
const at =
  (wanted: string, change: (body: string) => string): NonNullable<Changes['body']> =>
  (path, body) =>
    path === wanted ? Buffer.from(change(body.toString())) : body

/** A position that is five events ahead of the log. */
const gap = (line: string): string =>
  line.replace(
    /^data: \{"seq":(\d+),"head":(\d+)/,
    (_, seq, head) => `data: {"seq":${Number(seq) + 5},"head":${Number(head) + 5}`,
  )
const retired = { vkey: vkeyOf(OTHER_KEY), fromSize: 0, toSize: 5, statement: null }
const otherLine = `— ${NEW_LOG.origin} ${randomBytes(68).toString('base64')}\n`

suite('a mirror goes on after', () => {
  for (const [name, changes] of [
    ['a gap, and a page that is `null`', { line: gap, body: at('events', () => 'null') }],
    [
      'a key that is listed twice',
      {
        body: (path, body, headers) =>
          path === 'log/checkpoint'
            ? Buffer.from(`${body.toString()}${otherLine}`)
            : at('log/keys', (text) => {
                const list: { keys: readonly object[] } = JSON.parse(text)
                return JSON.stringify({ ...list, keys: [...list.keys, retired, retired] })
              })(path, body, headers),
      },
    ],
  ] satisfies readonly (readonly [string, Changes])[]) {
    test(name, () =>
      following(async ({ proxy, mirror, head }) => {
        proxy.change(changes)
        await origin.trade(1)
        await mirror.until(({ fault }) => fault !== null)
        assert.equal(mirror.state().contradicted, null)
        proxy.change({})
        await origin.trade(1)
        await mirror.reach(head + 2)
      }),
    )
  }

  test('ten answers of a gateway in place of pages', () =>
    following(async ({ proxy, mirror, head }) => {
      let busy = 0
      proxy.change({
        answer: (path, response) => path === 'stream' && response.destroy() !== undefined,
        body: at('events', (body) => (++busy > 10 ? body : '{"error":"busy"}')),
      })
      await origin.trade(1)
      await mirror.reach(head + 1)
      assert.ok(busy > 10)
    }))

  test('a checkpoint with its signature forty times, of which it keeps one', () =>
    following(async ({ proxy, mirror, head }) => {
      proxy.change({
        body: at('log/checkpoint', (note) => {
          const lines = note.indexOf('\n\n') + 2
          return note.slice(0, lines) + note.slice(lines).repeat(40)
        }),
      })
      await origin.trade(1)
      await mirror.reach(head + 1)
      await mirror.stop()
      assert.equal(readHighWater(mirror.data)?.checkpoint.match(/^— /gm)?.length, 1)
      await mirror.follow()
      await mirror.until(({ waits }) => waits === null)
    }))

  test('an older checkpoint before and after an outage', () =>
    following(async ({ proxy, mirror, head }) => {
      const old = Buffer.from(await (await fetch(`${origin.url()}/api/v1/log/checkpoint`)).arrayBuffer())
      await origin.trade(1)
      await mirror.reach(head + 1)
      let shown = 0
      let isOlder = true
      const older: Changes = {
        body(path, body) {
          if (path !== 'log/checkpoint' || !isOlder) return body
          shown += 1
          isOlder = false
          return old
        },
      }
      proxy.change(older)
      await mirror.until(() => shown === 1)
      proxy.lead(null)
      const outageMs = performance.now()
      // More than a minute of the mirror's clock.
      await mirror.until(({ fault }) => fault !== null && performance.now() - outageMs > 2_000)
      isOlder = true
      proxy.lead(origin.url())
      await mirror.until(() => shown === 2)
      await origin.trade(1)
      await mirror.reach(head + 2)
      assert.equal(mirror.state().contradicted, null)
    }))

  for (const [name, line] of [
    [
      'a position without a head',
      (text) => text.replace(/^data: \{"seq":(\d+),"head":\d+/, 'data: {"seq":$1'),
    ],
    [
      'a position that is far ahead',
      (text) => text.replace(/^(data: \{"seq":\d+,"head":)\d+/, '$19000000000000000'),
    ],
  ] satisfies readonly (readonly [string, NonNullable<Changes['line']>])[]) {
    test(`${name}, and knows how far it is behind`, () =>
      following(async ({ proxy, mirror, head }) => {
        let changed = 0
        proxy.change({
          line(text) {
            const sent = line(text)
            if (sent !== text) changed += 1
            return sent
          },
        })
        await mirror.until(() => changed > 0)
        await origin.trade(1)
        await mirror.reach(head + 1)
        proxy.change({})
        await origin.trade(1)
        await mirror.reach(head + 2)
        const { originHead } = await mirror.until(({ behindEvents }) => behindEvents === 0)
        assert.equal(originHead, head + 2)
      }))
  }
})
