import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, beforeEach, suite, test } from 'node:test'
import { FED_ORIGIN, type FeedStage, openFeedStage } from '../../../test/witness/feed-stage.ts'
import { type ScriptedWitness, startScriptedWitness } from '../../../test/witness/scripted-witness.ts'
import { until } from '../../../test/processes/other-program.ts'
import { NODE_SIGNATURES } from '../../log/tree/signer.ts'
import { keepWitnessed } from '../../log/witnessed/witnessed-file.ts'
import { msOf } from '../../protocol/moment.ts'
import { seqOf } from '../../protocol/seq.ts'
import { parseNote } from '../../tlog/note.ts'
import { openVouching } from '../../tlog/quorum.ts'
import type { FeedPace } from './feed-settings.ts'

suite('the feeder of a log', () => {
  let stage: FeedStage
  let witnesses: readonly [ScriptedWitness, ScriptedWitness, ScriptedWitness]
  before(async () => {
    stage = openFeedStage(100)
    witnesses = await Promise.all([
      startScriptedWitness('witness.example/one'),
      startScriptedWitness('witness.example/two', 'ml-dsa-44'),
      startScriptedWitness('witness.example/three'),
    ])
  })
  after(async () => {
    for (const witness of witnesses) await witness[Symbol.asyncDispose]()
    stage[Symbol.dispose]()
  })
  beforeEach(() => {
    rmSync(join(stage.directory, 'witnessed.json'), { force: true })
    stage.reports.length = 0
    for (const witness of witnesses) {
      Object.assign(witness, { size: 0, behaviour: 'honest' })
      witness.asked.length = 0
    }
  })
  const head = (): number => stage.reader.head().seq
  const feeding = <T>(run: () => Promise<T>, quorum = 2, pace: Partial<FeedPace> = {}): Promise<T> =>
    stage.feeding({ witnesses, quorum, pace }, run)
  const namesIn = async (note: string): Promise<readonly string[]> => {
    const parsed = parseNote(Buffer.from(note))
    assert.ok(parsed.ok)
    const keys = witnesses.map(({ key }) => key)
    const vouching = await openVouching(parsed.value, keys, NODE_SIGNATURES)
    return vouching.ok ? vouching.value.vouchers.map(({ name }) => name).toSorted() : [vouching.doubt]
  }

  test('keeps the newest checkpoint with the cosignatures of all witnesses, of both types', async () => {
    await feeding(async () => {
      await until('all have cosigned', async () => {
        const note = stage.witnessed()?.newest?.note ?? ''
        return note !== '' && (await namesIn(note)).length === 3
      })
    })
    const witnessed = stage.witnessed()
    assert.equal(witnessed?.newest?.seq, head())
    assert.ok(witnessed.newest.note.startsWith(`${FED_ORIGIN}\n${head()}\n`))
    assert.deepEqual(
      witnessed.witnesses.map(({ vkey, url, state, seq }) => ({ vkey, url, state, seq })),
      witnesses.map(({ vkey, url }) => ({ vkey, url, state: 'cosigning', seq: head() })),
    )
    assert.equal(witnessed.quorum, 2)
  })

  test('proves each growth, and goes on after a restart where it was', async () => {
    const sizes = [head()]
    await feeding(async () => {
      await stage.reported(`quorum ${head()}`)
      for (const events of [1, 155, 300]) {
        stage.grow(events)
        sizes.push(head())
        await stage.reported(`quorum ${head()}`)
      }
    })
    await until('the first witness has cosigned all', () => Promise.resolve(witnesses[0].size === head()))
    stage.grow(7)
    await feeding(() => stage.reported(`one ${head()}`))
    const [one] = witnesses
    assert.deepEqual(
      one.asked.map(({ oldSize, size }) => [oldSize, size]),
      [...sizes, head()].map((size, index) => [index === 0 ? 0 : sizes[index - 1], size]),
    )
    assert.ok(one.asked.slice(1).every(({ proofLines }) => proofLines > 0))
    assert.equal(one.asked[0]?.proofLines, 0)
  })

  test('goes on from the size that a conflict names', async () => {
    witnesses[0].size = 40
    await feeding(() => stage.reported(`one ${head()}`))
    assert.deepEqual(
      witnesses[0].asked.slice(0, 2).map(({ oldSize }) => oldSize),
      [0, 40],
    )
    assert.ok(!stage.reports.some((report) => report.startsWith('one ') && report !== `one ${head()}`))
  })

  test('has no quorum of two with one witness down and one lying, and has it once the first is back', async () => {
    const [one, two, three] = witnesses
    one.behaviour = () => ({ status: 503, body: '' })
    three.behaviour = ({ text }) => ({ status: 200, body: three.line(text.replace(/^\d+$/m, '1'), 1) })
    await feeding(async () => {
      await stage.reported(`two ${head()}`)
      await stage.reported('three malformed')
      await stage.reported('one failed')
      assert.equal(stage.witnessed()?.newest, null)
      one.behaviour = 'honest'
      await stage.reported(`quorum ${head()}`)
    })
    assert.deepEqual(await namesIn(stage.witnessed()?.newest?.note ?? ''), [one.key.name, two.key.name])
    assert.deepEqual(
      stage.witnessed()?.witnesses.map(({ state }) => state),
      ['cosigning', 'cosigning', 'refusing'],
    )
  })

  test('waits for no witness that does not answer', async () => {
    const [one] = witnesses
    one.behaviour = null
    await feeding(async () => {
      await stage.reported(`quorum ${head()}`)
      stage.grow(3)
      await stage.reported(`quorum ${head()}`)
      assert.equal(one.asked.length, 1, 'it has one question at a time')
    })
  })

  test('keeps the cosignatures of a tree when a witness answers late about an older one', async () => {
    const [one] = witnesses
    const late = Promise.withResolvers<void>()
    one.behaviour = async (_, honest) => {
      await late.promise
      return honest()
    }
    await feeding(
      async () => {
        await until('it is asked', () => Promise.resolve(one.asked.length === 1))
        stage.grow(1)
        await stage.reported(`quorum ${head()}`)
        late.resolve()
        await until('all have cosigned the newest tree', async () => {
          const { newest = null } = stage.witnessed() ?? {}
          return newest?.seq === head() && (await namesIn(newest.note)).length === 3
        })
      },
      2,
      { idleMs: 600_000 },
    )
  })

  test('asks again about a log that does not grow, so that the time of the quorum stays fresh', async () => {
    let seconds = 1_760_000_000
    for (const witness of witnesses) witness.timeSeconds = () => (seconds += 1)
    await feeding(
      async () => {
        await stage.reported(`quorum ${head()}`)
        const first = stage.witnessed()?.newest?.atMs ?? 0
        await until('the time is later', () =>
          Promise.resolve((stage.witnessed()?.newest?.atMs ?? 0) > first),
        )
      },
      2,
      { idleMs: 30 },
    )
    for (const witness of witnesses) witness.timeSeconds = () => Math.floor(Date.now() / 1_000)
    const [{ asked }] = witnesses
    assert.deepEqual([asked[1]?.oldSize, asked[1]?.size, asked[1]?.proofLines], [head(), head(), 0])
  })

  const refusals: readonly (readonly [
    reason: string,
    state: string,
    behaviour: ScriptedWitness['behaviour'],
  ])[] = [
    ['unknown-log', 'refusing', () => ({ status: 404, body: '' })],
    ['key', 'refusing', () => ({ status: 403, body: '' })],
    ['disagrees', 'refusing', () => ({ status: 422, body: '' })],
    ['ahead', 'refusing', () => ({ status: 409, body: '999999\n' })],
    ['limited', 'silent', () => ({ status: 429, body: '', headers: { 'Retry-After': '3600' } })],
    ['failed', 'silent', () => ({ status: 500, body: '' })],
    ['malformed', 'refusing', () => ({ status: 200, body: '' })],
    ['malformed', 'refusing', () => ({ status: 200, body: 'no line' })],
    ['malformed', 'refusing', () => ({ status: 409, body: 'many\n' })],
    ['malformed', 'refusing', () => ({ status: 200, body: 'a'.repeat(70_000) })],
    ['failed', 'silent', ({ oldSize }) => ({ status: 409, body: `${(oldSize + 1) % 90}\n` })],
    ['failed', 'silent', () => ({ status: 307, body: '' })],
  ]
  for (const [reason, state, behaviour] of refusals) {
    test(`reports a witness as ${reason} (${String(behaviour).slice(0, 70)})`, async () => {
      const [one] = witnesses
      one.behaviour = behaviour
      await feeding(async () => {
        await stage.reported(`one ${reason}`)
        await stage.reported(`quorum ${head()}`)
      })
      assert.equal(stage.witnessed()?.witnesses[0]?.state, state)
      assert.deepEqual(await namesIn(stage.witnessed()?.newest?.note ?? ''), [
        witnesses[2].key.name,
        witnesses[1].key.name,
      ])
    })
  }

  test('ignores lines of keys that were not chosen, and believes no clock that is far ahead', async () => {
    const [one, two, three] = witnesses
    const now = Math.floor(Date.now() / 1_000)
    one.behaviour = ({ text }) => ({ status: 200, body: three.line(text, now) })
    two.behaviour = ({ text }) => ({ status: 200, body: two.line(text, now + 3_600) })
    await feeding(async () => {
      await stage.reported('one malformed')
      await stage.reported('two clock')
      await stage.reported(`three ${head()}`)
    })
    assert.equal(stage.witnessed()?.newest, null)
  })

  test('reports a witness that has forgotten what it cosigned', async () => {
    const [one] = witnesses
    await feeding(async () => {
      await stage.reported(`one ${head()}`)
      one.size = 12
      stage.grow(2)
      await stage.reported('one went-back')
    })
  })

  test('is not misled when another node of the log was faster', async () => {
    const [one] = witnesses
    one.behaviour = (_asked, honest) => {
      one.behaviour = 'honest'
      stage.grow(5)
      one.size = head()
      return honest()
    }
    await feeding(async () => {
      await until('it has seen the growth', () => Promise.resolve(one.behaviour === 'honest'))
      await stage.reported(`one ${head()}`)
    })
    assert.ok(!stage.reports.includes('one ahead'))
  })

  test('knows nothing of the witnesses of another log, such as the one that this log continues', async () => {
    const [one] = witnesses
    const { vkey, url } = one
    const note = `${FED_ORIGIN}/former\n9999\n`
    const newest = { seq: seqOf(9_999), atMs: msOf(1), note }
    const row = { vkey, url, state: 'cosigning', seq: newest.seq, atMs: newest.atMs } as const
    keepWitnessed(stage.directory, { quorum: 2, witnesses: [row], newest })
    await feeding(() => stage.reported(`quorum ${head()}`))
    assert.deepEqual(
      stage.reports.filter((report) => !/\d$/.test(report)),
      [],
    )
    assert.equal(one.asked[0]?.oldSize, 0)
  })

  test('drops a quorum of witnesses that are no longer chosen', async () => {
    const [one, two, three] = witnesses
    await stage.feeding({ witnesses: [one, two], quorum: 2 }, () => stage.reported(`quorum ${head()}`))
    for (const witness of witnesses) witness.behaviour = null
    await stage.feeding({ witnesses: [one, two], quorum: 2 }, async () => {
      assert.equal(stage.witnessed()?.newest?.seq, head())
    })
    await stage.feeding({ witnesses: [one, three], quorum: 2 }, async () => {
      await until('the file is new', () => Promise.resolve(stage.witnessed()?.newest === null))
    })
  })
})
