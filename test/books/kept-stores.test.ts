import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { suite, test } from 'node:test'
import { OLDEST_SCHEMA, SCHEMA_VERSION } from '../../src/log/store/store-schema.ts'
import { openForReading, openForWriting, storePath, StoreError } from '../../src/log/store/store.ts'
import { EVENT_TYPES } from '../../src/protocol/rules.ts'
import { ask, askedPaths, keptSchemas, readAnswers, unpackKept } from './kept-store.ts'
import { runCheck } from '../story/damaged-log.ts'

/** The body of a recorded answer, as JSON. */
function recorded(path: string): Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>> {
  const answer = readAnswers(SCHEMA_VERSION).find((kept) => kept.path === path)
  return JSON.parse(answer?.body.toString() ?? '{}')
}

suite('the kept store of the current schema', () => {
  test('holds every type of event, a closed month and an open one, and two keys', () => {
    const { types = [] } = recorded('/api/v1/event-types')
    const seen = types.filter(({ kinds }) => Array.isArray(kinds) && kinds.length > 0)
    assert.deepEqual(new Set(seen.map(({ type }) => type)), new Set<unknown>(EVENT_TYPES))
    const { months = [] } = recorded('/api/v1/archive')
    assert.deepEqual(new Set(months.map(({ state }) => state)), new Set(['closed', 'open']))
    assert.equal(recorded('/api/v1/log/keys')['keys']?.length, 2)
  })

  test('has a recorded answer to every request', () => {
    assert.deepEqual(
      readAnswers(SCHEMA_VERSION).map(({ path }) => path),
      askedPaths(),
    )
  })

  test('can be opened, and gives the recorded answers byte for byte', async (t) => {
    using kept = unpackKept(SCHEMA_VERSION)
    await using service = await kept.serve()
    for (const { path, body } of readAnswers(SCHEMA_VERSION)) {
      await t.test(path, async () => {
        const answer = await ask(service, path)
        assert.equal(answer.body.toString(), body.toString())
        assert.ok(answer.body.equals(body), 'the bytes of the answer')
      })
    }
  })

  test('passes `check`', async () => {
    using kept = unpackKept(SCHEMA_VERSION)
    const { code, said } = await runCheck(kept.data, kept.keys)
    assert.equal(code, 0, said)
  })
})

suite('the kept stores', () => {
  test('are of the current schema and of earlier ones', () => {
    assert.equal(keptSchemas().at(-1), SCHEMA_VERSION, 'node test/stores/make.ts makes it')
  })

  for (const schema of keptSchemas().slice(0, -1)) {
    test(`of schema ${schema} are refused, and the message names both versions and the command that helps`, () => {
      using kept = unpackKept(schema)
      const refusal = new StoreError(
        `the store has schema ${schema}, and this Daybook reads schema ${SCHEMA_VERSION}: run daybook upgrade --data DIR, which keeps every event and signature`,
      )
      assert.throws(() => openForReading(storePath(kept.data)), refusal)
      assert.throws(() => openForWriting(storePath(kept.data)), refusal)
    })
  }

  const marked = (schema: number, needs: string | null): string | undefined => {
    using kept = unpackKept(SCHEMA_VERSION)
    const db = new DatabaseSync(storePath(kept.data))
    if (needs === null) db.exec("DELETE FROM meta WHERE key = 'needs'")
    else db.prepare("INSERT OR REPLACE INTO meta VALUES ('needs', ?)").run(needs)
    db.exec(`PRAGMA user_version = ${schema}`)
    db.close()
    try {
      openForReading(storePath(kept.data)).close()
      return undefined
    } catch (error) {
      return error instanceof StoreError ? error.message : String(error)
    }
  }

  test('of a newer schema are refused, and the message names the version that reads them', () => {
    const newer = SCHEMA_VERSION + 1
    const both = `the store has schema ${newer}, and this Daybook reads schema ${SCHEMA_VERSION}`
    assert.equal(marked(newer, '9.8.0'), `${both}: install Daybook 9.8.0 or newer, which reads it`)
    assert.equal(marked(newer, null), `${both}: install a newer Daybook, which reads it`)
  })

  test('of a schema before the first release are refused', () => {
    const reason = 'no release wrote or reads this one: see docs/upgrading.md, or import the drafts again'
    assert.match(marked(OLDEST_SCHEMA - 1, '0.1.0') ?? '', new RegExp(reason))
  })
})
