import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { keyList, keyRow } from '../../test/story/key-list.ts'
import {
  checkpointOver,
  type LogKey,
  newKey,
  ORIGIN,
  publicLog,
  signed,
} from '../../test/story/public-log.ts'
import { NODE_PRIMITIVES } from '../command/terminal/node-primitives.ts'
import { formatCheckpoint } from '../tlog/checkpoint.ts'
import {
  askCheckpoint,
  askTrust,
  openListed,
  openTrusted,
  type OwnKeys,
  readKeyList,
  type Trust,
  type TrustBasis,
  trustOf,
  UnlistedKeyError,
} from './trust.ts'
import { RICH_LOG } from '../../test/stage/audit-stage.ts'
import type { Source } from './reading/source.ts'

const [key, next] = [newKey(), newKey()]
const root = new Uint8Array(32)

const named = (fromSize: number): string =>
  signed(`daybook key rotation v1\n${ORIGIN}\n${fromSize}\n${next.vkey}\n`, key)

function trust(
  keys: readonly object[],
  basis: TrustBasis,
  vkeys: readonly string[] = [],
  formerLogs: readonly object[] = [],
): Promise<Trust> {
  const body = Buffer.from(keyList(ORIGIN, keys, formerLogs))
  return trustOf(readKeyList(body, NODE_PRIMITIVES), { basis, vkeys }, NODE_PRIMITIVES)
}

const vkeysOf = ({ keys }: Trust, all = [key, next]): readonly (string | undefined)[] =>
  keys.map((one) => all.find((own) => own.key.keyId === one.key.keyId)?.vkey)

function note(size: number, by: LogKey = key, extensions: readonly string[] = []): Uint8Array {
  return Buffer.from(signed(formatCheckpoint({ origin: by.key.name, size, root, extensions }), by))
}

suite('the trust in a log', () => {
  const rows = [keyRow(key), keyRow(next, { fromSize: 6, statement: named(6) })]

  test('begins with the keys of the user, and goes on to those that they have named', async () => {
    assert.deepEqual(vkeysOf(await trust(rows, 'given', [key.vkey])), [key.vkey, next.vkey])
    assert.deepEqual(vkeysOf(await trust(rows, 'given', [next.vkey])), [next.vkey])
  })

  test('begins with the listed keys without a statement when the user has none', async () => {
    assert.deepEqual(vkeysOf(await trust(rows, 'served')), [key.vkey, next.vkey])
    await assert.rejects(
      trust([keyRow(key), keyRow(next, { fromSize: 6, statement: named(7) })], 'served'),
      /log\/keys: a statement is invalid: no older key has named the newer one/,
    )
  })

  test('is refused when any key of the user is not listed', async () => {
    for (const vkeys of [[newKey().vkey], [key.vkey, newKey().vkey], []]) {
      await assert.rejects(trust(rows, 'kept', vkeys), (error) => {
        assert.ok(error instanceof UnlistedKeyError)
        assert.deepEqual(error.finding, {
          place: 'log/keys',
          what: 'the key that you trust is not among the keys of this log',
        })
        return true
      })
    }
  })

  test('may lack a key of a former log, as long as another one is listed', async () => {
    const former = newKey(`${ORIGIN}/former`)
    const formerLogs = [{ origin: former.key.name, size: 6 }]
    const found = await trust(rows, 'kept', [former.vkey, key.vkey], formerLogs)
    assert.deepEqual(vkeysOf(found), [key.vkey, next.vkey])
    await assert.rejects(trust(rows, 'kept', [former.vkey], formerLogs), UnlistedKeyError)
  })
})

suite('a checkpoint of a log', () => {
  test('is signed by a key in its time', async () => {
    const trusted = await trust([keyRow(key, { fromSize: 3, toSize: 5 })], 'given', [key.vkey])
    const isOpened = async (size: number): Promise<boolean> =>
      openTrusted('a place', note(size), trusted, NODE_PRIMITIVES).then(
        ({ checkpoint }) => checkpoint.size === size,
        ({ finding }) => {
          assert.deepEqual(finding, {
            place: 'a place',
            what: 'is signed by a key that does not sign trees of this size',
          })
          return false
        },
      )
    const opened = await Promise.all([2, 3, 4, 5, 6].map(isOpened))
    assert.deepEqual(opened, [false, true, true, true, false])
  })

  test('has its origin, size and root only', async () => {
    const trusted = await trust([keyRow(key)], 'given', [key.vkey])
    await assert.rejects(
      openTrusted('a place', note(4, key, ['more']), trusted, NODE_PRIMITIVES),
      /a place: has more than origin, size and root/,
    )
  })

  test('may be an old one of a retired key or of a former log, and of no other log', async () => {
    const former = newKey(`${ORIGIN}/former`)
    const rows = [keyRow(key), keyRow(next, { toSize: 3, state: 'retired' }), keyRow(former, { toSize: 6 })]
    const trusted = await trust(rows, 'given', [key.vkey], [{ origin: former.key.name, size: 6 }])
    for (const by of [key, next, former]) {
      const opened = await openListed(note(9, by), trusted, NODE_PRIMITIVES)
      assert.ok(opened.ok && opened.value.size === 9)
    }
    const doubts = await Promise.all(
      [newKey('elsewhere.example/log'), newKey()].map(async (by) =>
        openListed(note(9, by), trusted, NODE_PRIMITIVES),
      ),
    )
    assert.deepEqual(
      doubts.map((opened) => (opened.ok ? 'none' : opened.doubt)),
      ['other-origin', 'no-known-signature'],
    )
  })
})

suite('the list of keys of a log', () => {
  const table: readonly (readonly [what: string, list: object, says: RegExp])[] = [
    ['has no origin', { keys: [keyRow(key)] }, /lacks an origin, keys or former logs/],
    ['has no keys', { origin: ORIGIN }, /lacks an origin, keys or former logs/],
    [
      'has more keys than 256',
      { origin: ORIGIN, keys: Array.from({ length: 257 }, () => keyRow(key)) },
      /lacks an origin, keys or former logs/,
    ],
    ['has no list of former logs', { origin: ORIGIN, keys: [], formerLogs: 1 }, /lacks an origin/],
    [
      'has a former log without a size',
      { origin: ORIGIN, keys: [], formerLogs: [{ origin: ORIGIN }] },
      /a former log is malformed/,
    ],
    ['has no key in a row', { origin: ORIGIN, keys: [{ fromSize: 0 }] }, /a key is malformed/],
    [
      'has a key from no size',
      { origin: ORIGIN, keys: [keyRow(key, { fromSize: -1 })] },
      /a key is malformed/,
    ],
    [
      'has a key up to no size',
      { origin: ORIGIN, keys: [keyRow(key, { toSize: 'x' })] },
      /a key is malformed/,
    ],
    ['has a key twice', { origin: ORIGIN, keys: [keyRow(key), keyRow(key)] }, /a key is listed twice/],
    ['has a key of another log', { origin: 'other', keys: [keyRow(key)] }, /a key belongs to another log/],
  ]
  for (const [what, list, says] of table) {
    test(`is refused when it ${what}`, () =>
      assert.throws(() => readKeyList(Buffer.from(JSON.stringify(list)), NODE_PRIMITIVES), says))
  }

  test('may have as many keys as 256', () => {
    const keys = Array.from({ length: 256 }, () => keyRow(newKey()))
    const list = readKeyList(Buffer.from(JSON.stringify({ origin: ORIGIN, keys })), NODE_PRIMITIVES)
    assert.equal(list.keys.length, 256)
  })
})

const log = publicLog(RICH_LOG)
const size = RICH_LOG.length
const { vkey } = log.key

const askedTrust = (own: Partial<OwnKeys>, source = log.source()): Promise<Trust> =>
  askTrust(source, { given: [], keptOf: () => [], ...own }, NODE_PRIMITIVES)

suite('the first trusted key', () => {
  test('is the one that the user gives, then one kept earlier, then a served one', async () => {
    const keptOf = (): readonly string[] => [vkey]
    const bases = [
      await askedTrust({ given: [vkey], keptOf: () => [newKey().vkey] }),
      await askedTrust({ keptOf }),
      await askedTrust({}),
    ].map(({ basis }) => basis)
    assert.deepEqual(bases, ['given', 'kept', 'served'])
  })

  const lacking = (is: Source['is']): Source => ({
    ...log.source((path, body) => (path === 'log/keys' ? undefined : body)),
    is,
  })

  test('is enough for a folder without the list of keys, when the user gives it', async () => {
    const { origin, basis, keys } = await askedTrust({ given: [vkey] }, lacking('folder'))
    assert.deepEqual([origin, basis, keys.length], [log.key.key.name, 'given', 1])
    await assert.rejects(askedTrust({}, lacking('folder')), /log\/keys: is missing: give the key of the log/)
  })

  test('is not enough for a service without the list of keys', async () => {
    await assert.rejects(askedTrust({ given: [vkey] }, lacking('service')), /log\/keys: is missing$/)
  })
})

suite('the newest checkpoint of a log', () => {
  /** Asks a node that is behind for some questions, for a checkpoint that covers so many events. */
  async function asked(
    behindFor: number,
    covers: number,
    is: Source['is'] = 'service',
  ): Promise<Readonly<{ size: number; pausesMs: readonly number[] }>> {
    const older = Buffer.from(checkpointOver(RICH_LOG, size - 1, log.key))
    let questions = 0
    const source = log.source((path, body) => {
      if (path !== 'log/checkpoint') return body
      questions += 1
      return questions > behindFor ? body : older
    })
    const pausesMs: number[] = []
    const pause = async (ms: number): Promise<void> => void pausesMs.push(ms)
    const given = await askedTrust({ given: [vkey] })
    const { checkpoint } = await askCheckpoint({ ...source, is, pause }, given, covers, NODE_PRIMITIVES)
    return { size: checkpoint.size, pausesMs }
  }

  test('is asked for again, a second later each time, while a node is behind', async () => {
    assert.deepEqual(await asked(0, size), { size, pausesMs: [] })
    assert.deepEqual(await asked(1, size - 1), { size: size - 1, pausesMs: [] })
    assert.deepEqual(await asked(1, size), { size, pausesMs: [1_000] })
    assert.deepEqual(await asked(4, size), { size, pausesMs: [1_000, 1_000, 1_000, 1_000] })
  })

  test('is taken as it is after five questions, and of a folder at once', async () => {
    assert.deepEqual(await asked(5, size), { size: size - 1, pausesMs: [1_000, 1_000, 1_000, 1_000] })
    assert.deepEqual(await asked(5, size, 'folder'), { size: size - 1, pausesMs: [] })
  })
})
