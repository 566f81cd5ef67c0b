import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, suite, test } from 'node:test'
import { readHighWater } from '../../src/log/store/high-water.ts'
import { OTHER_KEY } from '../story/signing.ts'
import { type Changes, openChangingProxy } from './changing-proxy.ts'
import { NEW_LOG, openMirror, openOrigin, vkeyOf } from './mirroring-stage.ts'

let origin: Awaited<ReturnType<typeof openOrigin>>
before(async () => {
  origin = await openOrigin(60)
})
after(() => origin[Symbol.asyncDispose]())

type Parts = Readonly<{
  proxy: Awaited<ReturnType<typeof openChangingProxy>>
  mirror: ReturnType<typeof openMirror>
  /** Events of the origin at the beginning. */
  head: number
}>

/** Runs a test with a mirror that follows the origin through a proxy, and has proved its checkpoint. */
async function following(run: (parts: Parts) => Promise<void>): Promise<void> {
  await using proxy = await openChangingProxy(origin.url())
  await using mirror = openMirror(() => proxy.url)
  await mirror.follow()
  await mirror.until(({ waits }) => waits === null)
  await run({ proxy, mirror, head: mirror.head() })
}

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
    ['a gap, and a page without members', { line: gap, body: at('events', () => '{}') }],
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
