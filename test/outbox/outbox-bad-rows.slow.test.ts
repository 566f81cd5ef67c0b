import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { escapeLiteral } from 'pg'
import { outboxSql, parseOutboxTable } from '../../src/outbox/outbox-sql.ts'
import type { RunResult } from '../stage/command-stage.ts'
import { skipUnless } from '../processes/test-needs.ts'
import { openOutboxStage, type OutboxStage } from './outbox-stage.ts'
import { hasPostgres } from '../database/postgres-server.ts'

const DEPOSIT = { type: 'treasury', kind: 'deposit', kots: '1' }
/** A deposit as JSON, with another member. */
const deposited = (more: string): string => `{"type":"treasury","kind":"deposit","kots":"1",${more}}`

suite('an outbox with a bad row', { skip: skipUnless(hasPostgres, 'postgresql') }, () => {
  let stage: OutboxStage
  before(async () => {
    stage = await openOutboxStage()
  })
  after(() => stage?.[Symbol.asyncDispose]())

  /** Drafts that a column of `json` takes and the log does not, with what the log says of them. */
  const REFUSED: readonly (readonly [string, string, RegExp])[] = [
    ['a NUL in a text', String.raw`{"type":"treasury","kind":"a\u0000"}`, /kind: /],
    ['a NUL in a key', String.raw`{"type":"treasury","\u0000":1}`, /draft: has an unknown key/],
    ['a NUL in a ref', deposited(String.raw`"ref":"a\u0000"`), /ref: /],
    ['half of a surrogate pair', deposited(String.raw`"ref":"\ud800"`), /ref: /],
    ['the other half', deposited(String.raw`"ref":"\udc00\ud800"`), /ref: /],
    [
      'a number beyond all',
      `{"type":"treasury","kind":"deposit","kots":1e999999}`,
      /draft: has a number with a point or an exponent/,
    ],
    ['a number of many digits', deposited(`"contestId":${'9'.repeat(60_000)}`), /contestId: /],
    ['a repeated key', deposited('"kots":"2"'), /draft: .*(?:twice|repeat)/],
    [
      'a key that is repeated in escapes',
      deposited(String.raw`"\u006bots":"2"`),
      /draft: .*(?:twice|repeat)/,
    ],
    ['deep arrays', deposited(`"x":${'['.repeat(1_500)}${']'.repeat(1_500)}`), /draft: .*deep/],
    ['deep objects', deposited(`"x":${'{"a":'.repeat(1_500)}1${'}'.repeat(1_500)}`), /draft: .*deep/],
    ['a very long text', deposited(`"ref":"${'x'.repeat(64_000)}"`), /ref: /],
    ['an inherited key', deposited('"__proto__":{"ref":"x"}'), /draft: has an unknown key/],
    ['a ref that is null', deposited('"ref":null'), /ref: is required/],
    ['a byte order mark', deposited('"\uFEFFref":"x"'), /draft: has an unknown key/],
  ]

  for (const [what, draft, reason] of REFUSED) {
    test(`names a row with ${what}, and publishes those before it`, async () => {
      await stage.sql(`TRUNCATE daybook_outbox`)
      await stage.insert(DEPOSIT)
      await stage.sql(`INSERT INTO daybook_outbox (draft) VALUES (${escapeLiteral(draft)})`)
      await stage.insert(DEPOSIT)
      const { code, stderr, stdout } = await stage.drain()
      const [, bad] = await stage.rows()
      assert.deepEqual([code, stdout], [1, '1 published, 0 duplicates skipped, 0 held\n'], stderr)
      assert.ok(stderr.startsWith(`row ${bad?.id}, `), stderr)
      assert.match(stderr, reason)
      assert.ok(stderr.length < 300, 'the content is not repeated')
      assert.deepEqual(
        (await stage.rows()).map(({ status }) => status),
        ['published', null, null],
      )
    })
  }

  /** Makes an outbox in a database of its own, with the title of each contest in the database's bytes. */
  function openEncoded(
    encoding: string,
    first: number,
    ...titles: readonly string[]
  ): () => Promise<RunResult> {
    const base = encoding.toLowerCase()
    const login = ['-h', stage.server.host, '-U', 'tester']
    stage.server.run('createdb', [...login, '-T', 'template0', '-E', encoding, base])
    const drafts = titles.map((title, index) => {
      const details = `{"title":"${title}","opensAt":"2030-01-01T00:00:00Z","closesAt":"2030-01-02T00:00:00Z"}`
      const draft = `{"type":"contest","kind":"scheduled","contestId":${first + index},"details":${details}}`
      return `INSERT INTO daybook_outbox (draft) VALUES (E'${draft}');`
    })
    const sql = outboxSql(parseOutboxTable('daybook_outbox')) + drafts.join('\n')
    stage.server.run('psql', [stage.server.url(base), '-q', '-v', 'ON_ERROR_STOP=1'], sql)
    return () => stage.drain('--from', stage.server.url(base))
  }

  test('is drained from a database in another encoding than UTF-8', async () => {
    const { code, stderr } = await openEncoded('LATIN1', 1, String.raw`Pok\351mon`)()
    assert.deepEqual([code, stderr], [0, ''])
    const answer = await fetch(`${stage.service.url}/api/v1/contests/1`)
    assert.equal(((await answer.json()) as { title: string }).title, 'Pokémon')
  })

  test('names a row that the database cannot send as UTF-8, and publishes those before it', async () => {
    const earlier = await stage.events()
    const drain = openEncoded('SQL_ASCII', 2, 'First', 'Second', 'Third', String.raw`Pok\351mon`, 'Fifth')
    const { code, stdout, stderr } = await drain()
    assert.deepEqual([code, stdout], [1, '3 published, 0 duplicates skipped, 0 held\n'], stderr)
    assert.match(
      stderr,
      /^daybook: row [0-9a-f-]{36}, draft: the database cannot send it as UTF-8\nthis row and the rows after it wait: see docs\/outbox.md\n$/,
    )
    assert.equal((await stage.events()).length, earlier.length + 3)
  })

  test('is drained from a column of jsonb too, and names a row that is refused', async () => {
    const sql = outboxSql(parseOutboxTable('binary_outbox')).replaceAll(/json(?= NOT|_typeof)/g, 'jsonb')
    const drafts = ['{"kots": "0.4", "kind": "deposit", "type": "treasury"}', '{"kots": 1e70000}']
    const inserts = drafts.map((draft) => `INSERT INTO binary_outbox (draft) VALUES ('${draft}');`)
    const psql = (text: string): string =>
      stage.server.run('psql', [stage.server.url(), '-qAt', '-v', 'ON_ERROR_STOP=1'], text)
    psql(`${sql}${inserts[0]}`)
    assert.throws(() => psql(inserts[1] ?? ''), /check constraint/)
    psql(`ALTER TABLE binary_outbox DROP CONSTRAINT binary_outbox_draft_check; ${inserts[1]}
      INSERT INTO binary_outbox (draft) VALUES ('[{"kots": "1"}]'), ('null'), ('5');`)
    for (const reason of ['is longer than 65536 bytes', 'must be an object']) {
      const { code, stderr } = await stage.drain('--table', 'binary_outbox')
      assert.equal(code, 1)
      assert.match(stderr, /^row [0-9a-f-]{36}, /)
      assert.ok(stderr.includes(reason) && stderr.length < 1_000, stderr)
      psql(`DELETE FROM binary_outbox WHERE draft @> '{"kots": 1e70000}'`)
    }
  })
})
