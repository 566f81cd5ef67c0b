import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import type { Witnessed } from '../../src/log/store/reader.ts'
import { openReader } from '../../src/log/open-reader.ts'
import { keepWitnessed } from '../../src/log/witnessed/witnessed-file.ts'
import { openSigner, type SigningKey } from '../../src/log/tree/signer.ts'
import { type MirrorStore, openMirrorStore } from '../../src/mirror/live/mirror-store.ts'
import { openPassWitnessed } from '../../src/mirror/live/pass-witnessed.ts'
import { openOrigin as openAsked } from '../../src/mirror/origin/open-origin.ts'
import { ContradictionError } from '../../src/mirror/proof/contradiction.ts'
import { msOf } from '../../src/protocol/moment.ts'
import { seqOf } from '../../src/protocol/seq.ts'
import { OTHER_KEY, TEST_KEY } from '../story/signing.ts'
import { until } from '../processes/other-program.ts'
import { askedWitnesses } from '../../src/witness/command/serve-witnessed.ts'
import { type ScriptedWitness, startScriptedWitness } from '../witness/scripted-witness.ts'
import { openChangingProxy } from './changing-proxy.ts'
import { NEW_LOG, openMirror, openOrigin, vkeyOf } from './mirroring-stage.ts'
import { openHeadCell } from '../../src/log/head-cell.ts'

const EVENTS = 60
const SECONDS = 1_780_000_000
/** A witnessed checkpoint as an origin sends it; null answers 404. */
type Sent = string | null

suite('what an origin says about its witnesses', () => {
  let witnesses: readonly [ScriptedWitness, ScriptedWitness, ScriptedWitness]
  let origin: Awaited<ReturnType<typeof openOrigin>>
  let proxy: Awaited<ReturnType<typeof openChangingProxy>>
  let mirror: ReturnType<typeof openMirror>
  let store: MirrorStore
  before(async () => {
    witnesses = await Promise.all([
      startScriptedWitness('witness.example/one'),
      startScriptedWitness('witness.example/two', 'ml-dsa-44'),
      startScriptedWitness('witness.example/three'),
    ])
    origin = await openOrigin(EVENTS)
    proxy = await openChangingProxy(origin.url())
    mirror = openMirror(() => proxy.url)
    await mirror.build()
    store = openMirrorStore({ dataDirectory: mirror.data, vkeys: [] }, openHeadCell(), () => undefined)
  })
  after(async () => {
    store[Symbol.dispose]()
    for (const open of [mirror, proxy, origin, ...witnesses]) await open[Symbol.asyncDispose]()
  })

  /** A note of the log's tree of this size, or of another root, without cosignatures. */
  const signed = (
    size = EVENTS,
    key: SigningKey = TEST_KEY,
    root?: Uint8Array,
    name: string = NEW_LOG.origin,
  ) =>
    openSigner(name, [key]).sign({ size, root: root ?? store.book.treeAt(Math.min(size, EVENTS)).root }).note
  const textOf = (note: string): string => note.slice(0, note.indexOf('\n\n') + 1)
  /** The note with a cosignature of each of these witnesses. */
  const cosigned = (note: string, by: readonly ScriptedWitness[] = witnesses, seconds = SECONDS): string =>
    note + by.map((witness) => witness.line(textOf(note), seconds)).join('')
  const rows = (): object[] =>
    witnesses.map(({ vkey, url }) => ({ vkey, url, state: 'cosigning', seq: EVENTS, atMs: SECONDS * 1_000 }))
  const listed = (changes: object = {}): string =>
    JSON.stringify({ quorum: 2, witnesses: rows(), ...changes })
  const firstRow = (changes: object): string =>
    listed({ witnesses: [{ ...rows()[0], ...changes }, ...rows().slice(1)] })

  function passed(): Witnessed | null {
    const reader = openReader(mirror.data, null)
    const witnessed = reader.snapshot((snapshot) => snapshot.witnessed())
    reader.close()
    return witnessed
  }

  /** Asks an origin that answers so, with what an earlier question has kept, or nothing. */
  async function ask(note: Sent, list: Sent = listed(), isFirst = true): Promise<Witnessed | null> {
    if (isFirst) rmSync(join(mirror.data, 'witnessed.json'), { force: true })
    proxy.change({
      answer(path, response) {
        const body = { 'log/witnesses': list, 'log/checkpoint.witnessed': note }[path]
        if (body === undefined) return false
        response.writeHead(body === null ? 404 : 200).end(body ?? '{"code":"not-found"}')
        return true
      },
    })
    const asked = openAsked(proxy.url, {}, () => undefined)
    const signal = AbortSignal.timeout(60_000)
    await openPassWitnessed({ origin: asked, store, signal }).ask(await store.knownKeys())
    return passed()
  }

  test('is passed on with the time of the quorum, byte for byte', async () => {
    const [one, two] = witnesses
    const note = signed() + one.line(textOf(signed()), SECONDS + 9) + two.line(textOf(signed()), SECONDS)
    assert.deepEqual(await ask(note), {
      quorum: 2,
      witnesses: rows(),
      newest: { seq: EVENTS, atMs: SECONDS * 1_000, note },
    })
    const smaller = cosigned(signed(41))
    assert.equal((await ask(smaller))?.newest?.note, smaller)
  })

  test('may have a forged line of a witness that nobody lists', async () => {
    const forged = witnesses[2].line(textOf(signed(5)), SECONDS)
    const note = cosigned(signed(), witnesses.slice(0, 2)) + forged
    const two = listed({ witnesses: rows().slice(0, 2) })
    assert.equal((await ask(note, two))?.newest?.note, note)
  })

  const NOTES: readonly (readonly [name: string, note: () => Sent])[] = [
    ['none', () => null],
    ['of a tree that the mirror does not have yet', () => cosigned(signed(EVENTS + 1))],
    ['of an empty tree', () => cosigned(signed(0))],
    ['without a signature of the log', () => cosigned(signed()).replace(/\n\n[^\n]+\n/, '\n\n')],
    ['that another key has signed', () => cosigned(signed(EVENTS, OTHER_KEY))],
    ['of another log', () => cosigned(signed(EVENTS, TEST_KEY, undefined, 'daybook.example/other'))],
    ['with one of two witnesses', () => cosigned(signed(), witnesses.slice(0, 1))],
    ['without cosignatures', () => signed()],
    [
      'with a forged line of a listed witness',
      () => cosigned(signed(), witnesses.slice(0, 2)) + witnesses[2].line(textOf(signed(5)), SECONDS),
    ],
    ['with a line beyond the checkpoint', () => cosigned(signed().replace('\n\n', '\nmore\n\n'))],
    ['that is no note', () => '<html>'],
    ['that is longer than a note', () => cosigned(signed()) + 'x'.repeat(262_144)],
  ]
  for (const [name, note] of NOTES) {
    test(`is passed on without a checkpoint ${name}`, async () => {
      const witnessed = await ask(note())
      assert.deepEqual([witnessed?.witnesses.length, witnessed?.newest], [3, null])
    })
  }

  const LISTS: readonly (readonly [name: string, list: () => string])[] = [
    ['is no JSON', () => '<html>'],
    ['is longer than a list', () => listed({ more: 'x'.repeat(131_072) })],
    ['lacks the witnesses', () => listed({ witnesses: null })],
    ['has more than 16 keys', () => listed({ witnesses: Array.from({ length: 17 }, () => rows()[0]) })],
    ['has a key twice', () => listed({ witnesses: [...rows(), rows()[0]] })],
    ['has no quorum', () => listed({ quorum: 0 })],
    ['has a quorum of more than all', () => listed({ quorum: 4 })],
    ['has a key of a log', () => firstRow({ vkey: vkeyOf(TEST_KEY) })],
    ['has a malformed key', () => firstRow({ vkey: 'witness.example/one+00000000+AAAA' })],
    ['has an address of another kind', () => firstRow({ url: 'javascript:alert(1)' })],
    ['has an address with a password', () => firstRow({ url: 'https://a:b@witness.example' })],
    ['has an address with a query', () => firstRow({ url: 'https://witness.example/?a=b' })],
    ['has a long address', () => firstRow({ url: `https://witness.example/${'a'.repeat(2_048)}` })],
    ['has an unknown state', () => firstRow({ state: '<b>' })],
    ['has a time that is none', () => firstRow({ atMs: '7' })],
    ['has a time after the year 9999', () => firstRow({ atMs: 253_402_300_800_000 })],
  ]
  test('is not passed on when its list is not well formed, and what was kept stays', async () => {
    const kept = await ask(cosigned(signed(41)))
    assert.equal(kept?.newest?.seq, 41)
    for (const [name, list] of LISTS) {
      assert.deepEqual(await ask(cosigned(signed()), list(), false), kept, `a list that ${name}`)
    }
    assert.equal((await ask(cosigned(signed()), listed(), false))?.newest?.seq, EVENTS)
  })

  test('never replaces a newer checkpoint by an older one', async () => {
    const newest = cosigned(signed(50), witnesses, SECONDS)
    await ask(newest)
    for (const older of [
      cosigned(signed(49), witnesses, SECONDS + 99),
      cosigned(signed(50), witnesses, SECONDS - 1),
      null,
    ])
      assert.equal((await ask(older, listed(), false))?.newest?.note, newest)
    const later = cosigned(signed(50), witnesses, SECONDS + 1)
    assert.equal((await ask(later, listed(), false))?.newest?.note, later)
  })

  test('drops a checkpoint on which the listed witnesses are no quorum, or which is of another log', async () => {
    await ask(cosigned(signed(), witnesses.slice(0, 2)))
    assert.equal((await ask(null, listed({ quorum: 3 }), false))?.newest, null)
    const foreign = cosigned(signed(40, TEST_KEY, undefined, 'daybook.example/former'))
    keepWitnessed(mirror.data, {
      quorum: 2,
      witnesses: [],
      newest: { seq: seqOf(40), atMs: msOf(7), note: foreign },
    })
    assert.equal((await ask(null, listed(), false))?.newest, null)
  })

  test('is nothing without witnesses, and of an origin of an older version', async () => {
    for (const list of [null, JSON.stringify({ quorum: null, witnesses: [], witnessed: null })]) {
      await ask(cosigned(signed()))
      assert.equal(await ask(null, list, false), null)
    }
  })

  test('contradicts the mirror when the log has signed another tree', async () => {
    const fork = cosigned(signed(33, TEST_KEY, new Uint8Array(32)))
    await assert.rejects(ask(fork), (error: unknown) => {
      assert.ok(error instanceof ContradictionError)
      assert.match(error.message, /FORK: the origin has signed another history of the first 33 events/)
      assert.equal(Buffer.from(error.files['served.checkpoint'] ?? '').toString(), fork)
      assert.equal(error.files['own.checkpoint'], store.checkpoint())
      return true
    })
    assert.equal(passed(), null)
  })
})

suite('a mirror of a log with witnesses', () => {
  test('passes on each newer one, goes on after a restart, and stops at a witnessed fork', async () => {
    await using one = await startScriptedWitness('witness.example/one')
    await using two = await startScriptedWitness('witness.example/two')
    const both = [one, two]
    const choice = { witnesses: both.map(({ key, url }) => ({ key, url })), quorum: 2 }
    await using origin = await openOrigin(EVENTS, {
      cosigners: askedWitnesses(choice, { roundMs: 20, idleMs: 60_000 }),
    })
    for (const witness of both) witness.timeSeconds = () => Math.floor(origin.clock.now() / 1_000)
    await using proxy = await openChangingProxy(origin.url())
    await using mirror = openMirror(() => proxy.url)
    const newest = async (): Promise<string> => {
      const answer = await fetch(`${origin.url()}/api/v1/log/checkpoint.witnessed`)
      return answer.ok ? await answer.text() : ''
    }
    const sizeOf = (note: string): number => Number(note.split('\n')[1])
    const passed = (): string => {
      const reader = openReader(mirror.data, null)
      const note = reader.snapshot((snapshot) => snapshot.witnessed()?.newest?.note ?? '')
      reader.close()
      return note
    }
    const untilPassed = async (size: number): Promise<void> => {
      await until('the origin is witnessed', async () => sizeOf(await newest()) === size)
      const note = await newest()
      await until('the mirror passes it on', () => Promise.resolve(passed() === note))
    }
    await mirror.follow()
    await untilPassed(EVENTS)
    await origin.trade(2)
    await untilPassed(EVENTS + 2)
    await mirror.stop()
    await origin.trade(1)
    await mirror.follow()
    await untilPassed(EVENTS + 3)
    await mirror.until(({ waits }) => waits === null)

    const text = `${NEW_LOG.origin}\n7\n${Buffer.alloc(32).toString('base64')}\n`
    const { note: forged } = openSigner(NEW_LOG.origin, [TEST_KEY]).sign({
      size: 7,
      root: new Uint8Array(32),
    })
    const fork = forged + both.map((witness) => witness.line(text, 1_780_000_000)).join('')
    const kept = passed()
    proxy.change({ body: (path, body) => (path === 'log/checkpoint.witnessed' ? Buffer.from(fork) : body) })
    const { contradicted } = await mirror.until((state) => state.contradicted !== null)
    assert.match(
      contradicted?.reason ?? '',
      /FORK: the origin has signed another history of the first 7 events/,
    )
    assert.equal(mirror.evidence()['served.checkpoint'], fork)
    assert.equal(passed(), kept)
  })
})
