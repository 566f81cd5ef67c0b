import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { openSigner, type SigningKey } from '../../src/log/tree/signer.ts'
import { importFiles } from '../../src/publish/import/import.ts'
import { jsonl, type Line, openImportStage, settingsOf } from '../stage/import-stage.ts'
import { OTHER_KEY, TEST_KEY } from '../story/signing.ts'
import { openChangingProxy } from './changing-proxy.ts'
import { NEW_LOG, openMirror, openOrigin, vkeyOf } from './mirroring-stage.ts'

const BASE = 20
/** More events than a month that is committed by itself has at least. */
const FORGED = 10_001
/** Tree size of a checkpoint that covers all of them. */
const TARGET = 30_000

/** Deposits, a second apart. */
function deposits(name: string, fromMs: number, count: number): readonly Line[] {
  return Array.from({ length: count }, (_, index) => ({
    ref: `${name}${index}`,
    at: new Date(fromMs + index * 1000).toISOString(),
    type: 'treasury',
    kind: 'deposit',
    kots: '1',
  }))
}

const GENUINE = deposits('a', Date.UTC(2026, 3, 1), BASE)
const FORGERY = [
  ...GENUINE,
  ...deposits('b', Date.UTC(2026, 3, 2), FORGED),
  ...deposits('c', Date.UTC(2026, 4, 2), 1),
]

/** Answers with the files of another service, under the name of no log. */
async function relay(url: string, response: ServerResponse): Promise<void> {
  const answer = await fetch(url)
  for (const name of ['content-type', 'daybook-last-seq', 'daybook-archive-state']) {
    const value = answer.headers.get(name)
    if (value !== null) response.setHeader(name, value)
  }
  response.end(Buffer.from(await answer.arrayBuffer()))
  await once(response, 'close')
}

suite('a mirror whose origin lists a key that nobody has named, as a retired one', () => {
  test('shows no month that only this key has signed', async () => {
    await using stage = await openImportStage()
    const logOf = async (name: string, lines: readonly Line[], keys: readonly SigningKey[]) => {
      const data = join(stage.data, '..', name)
      const settings = settingsOf([stage.file(`${name}.jsonl`, jsonl(lines))], data)
      assert.ok((await importFiles({ ...settings, newLog: NEW_LOG, keys })).ok)
      return openOrigin(data, {}, keys)
    }
    await using origin = await logOf('genuine', GENUINE, [TEST_KEY])
    await using forger = await logOf('forged', FORGERY, [OTHER_KEY])
    await using proxy = await openChangingProxy(origin.url())
    await using mirror = openMirror(() => proxy.url, { vkeys: [vkeyOf(TEST_KEY)], archiveEventsMin: FORGED })
    await mirror.follow()
    await mirror.until(({ waits }) => waits === null)

    const key = { vkey: vkeyOf(OTHER_KEY), fromSize: 0, toSize: 100_000_000, statement: null }
    const tree = { size: TARGET, root: new Uint8Array(32) }
    // The second signature makes the mirror read the keys again.
    const { note } = openSigner(NEW_LOG.origin, [TEST_KEY, OTHER_KEY]).sign(tree)
    const asked = proxy.asked.length
    proxy.change({
      body(path, body) {
        if (path === 'log/checkpoint') return Buffer.from(note)
        if (path !== 'log/keys') return body
        const list: { keys: readonly object[] } = JSON.parse(body.toString())
        return Buffer.from(JSON.stringify({ ...list, keys: [...list.keys, key] }))
      },
      answer(path, response) {
        if (!path.startsWith('archive')) return false
        relay(`${forger.url()}/api/v1/${path}`, response).catch(() => response.destroy())
        return true
      },
    })
    // Pages are asked for after the months, and the genuine log has none of them.
    await mirror.until(({ fault }) => fault !== null && proxy.asked.includes('events', asked))
    assert.ok(proxy.asked.includes('archive/2026-04.json', asked))
    assert.deepEqual([mirror.head(), mirror.state().contradicted], [BASE, null])
    proxy.change({})
    await origin.trade(1)
    await mirror.reach(BASE + 1)
  })
})
