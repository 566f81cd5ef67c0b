import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { OLDEST_SCHEMA, SCHEMA_VERSION } from '../../src/log/store/store-schema.ts'
import { readStoreIdentity, storePath } from '../../src/log/store/store.ts'
import { ENDPOINT_PATHS } from '../../src/protocol/paths.ts'
import { ask, askedPaths, keptSchemas, readAnswers, unpackKept } from '../books/kept-store.ts'
import { run } from '../stage/command-stage.ts'
import { blocksOf, textOf } from '../stage/document.ts'
import { ROOT } from '../stage/places.ts'
import { daybook } from '../stage/service.ts'
import { makeLogBeforeKey } from '../story/changed-key.ts'
import { openFolder, runCheck } from '../story/damaged-log.ts'
import { keptStoreOf, upgrade } from './upgrade-stage.ts'

/**
 * Paths whose answers follow from the log alone: they must be the bytes that the older Daybook answered. It did not know
 * of witnesses and Parquet files, and its catalogue of types had the rules of its version.
 */
const OF_THE_LOG = /^\/api\/v1\/(?:events|archive(?=\/)|log(?!\/witnesses)|stream)(?=$|[/?])/
/** Among them, those with a signature, which only the log's own recorded answers have. */
const SIGNED = /^\/api\/v1\/(?:archive\/2026-03\.json|log\/(?:checkpoint|keys|proof\/.*))$/

const bodies = (schema: number): ReadonlyMap<string, Buffer> =>
  new Map(readAnswers(schema).map(({ path, body }) => [path, body]))

suite('the kept stores', () => {
  test('are of every schema from the oldest that is upgraded', () => {
    const schemas = Array.from(
      { length: SCHEMA_VERSION - OLDEST_SCHEMA + 1 },
      (_, index) => OLDEST_SCHEMA + index,
    )
    assert.deepEqual(keptSchemas(), schemas)
  })
})

for (const schema of keptSchemas()) {
  suite(`the kept store of schema ${schema}, upgraded`, () => {
    test('gives its recorded answers about the log, and the newest recorded answers about figures', async () => {
      using kept = unpackKept(schema)
      const newest = bodies(SCHEMA_VERSION)
      const own = bodies(schema)
      const report = await upgrade(kept.data)
      assert.equal(report?.from, schema)
      assert.equal(report.events, JSON.parse(own.get(ENDPOINT_PATHS.status)?.toString() ?? '').head.seq)

      await using service = await kept.serve()
      const compared = { own: 0, newest: 0 }
      const newestId = JSON.parse(newest.get(ENDPOINT_PATHS.status)?.toString() ?? '').log
      for (const path of askedPaths()) {
        const { body } = await ask(service, path)
        if (OF_THE_LOG.test(path)) {
          assert.equal(body.toString(), own.get(path)?.toString(), path)
          assert.ok(body.equals(own.get(path) ?? Buffer.alloc(0)), `the bytes of ${path}`)
          compared.own += 1
        }
        if (SIGNED.test(path)) continue
        const ours = body.toString().replaceAll(readStoreIdentity(kept.data).id, newestId)
        assert.equal(ours, newest.get(path)?.toString(), path)
        compared.newest += 1
      }
      assert.ok(compared.own >= 30 && compared.newest >= 70, JSON.stringify(compared))
    })

    test('passes `check`', async () => {
      using kept = unpackKept(schema)
      await upgrade(kept.data)
      const { code, said } = await runCheck(kept.data, kept.keys)
      assert.equal(code, 0, said)
    })
  })
}

suite('`daybook upgrade`', () => {
  test('is named by every refusal of an older store, says what it needs, and then finds nothing to do', async () => {
    using kept = unpackKept(OLDEST_SCHEMA)
    const refused = await daybook('check', '--data', kept.data)
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /^daybook: the store has schema 13, and .*: run daybook upgrade --data DIR/)
    const upgraded = await run(['upgrade', '--data', kept.data])
    assert.match(upgraded.stderr, /^upgrading 4484 events .* needs \d.* of disk at most; \d.* are free$/m)
    const again = await run(['upgrade', '--data', kept.data])
    assert.equal(again.stdout, 'nothing to upgrade: the store has the present schema\n')
  })

  test('takes a restored store from before a change of the key when the new key is given', async () => {
    using folder = openFolder()
    const keyFiles = makeLogBeforeKey(folder)
    const words = ['upgrade', '--data', folder.data, '--rebuild']
    await assert.rejects(run(words), /no key of this log has signed the high-water mark/)
    const { stdout } = await run([...words, '--signing-key-file', keyFiles.join(',')])
    assert.match(stdout, /^10 events upgraded from schema /)
    const mistyped = await run([...words, '--signing-key-file', join(folder.path, 'mistyped')])
    assert.equal(mistyped.code, 2)
    assert.match(mistyped.stderr, /^daybook: the signing key file \S+mistyped cannot be read/)
  })

  test('keeps an old store that can be put back, and upgraded again', async () => {
    using kept = unpackKept(OLDEST_SCHEMA)
    await upgrade(kept.data)
    renameSync(keptStoreOf(kept.data, OLDEST_SCHEMA), storePath(kept.data))
    assert.equal((await upgrade(kept.data))?.from, OLDEST_SCHEMA)
  })
})

const DOCUMENT = 'docs/upgrading.md'
const COMMAND = `'${process.execPath}' '${join(ROOT, 'src', 'main.ts')}'`

suite(DOCUMENT, () => {
  test('upgrades the oldest kept store, checks it and removes the old one, by its own commands', () => {
    using kept = unpackKept(OLDEST_SCHEMA)
    const blocks = blocksOf(textOf(DOCUMENT)).filter(({ before }) => before === '<!-- run: upgrade -->')
    const said = blocks.map(({ text }) => {
      const script = text
        .replaceAll('/var/lib/daybook/log', kept.data)
        .replaceAll(/^runuser -u daybook -- daybook /gm, `${COMMAND} `)
      return execFileSync('sh', ['-c', script], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    })
    assert.match(said[0] ?? '', /^4484 events upgraded from schema 13 to schema \d+ in \d/)
    assert.match(said[1] ?? '', /^4484 events: every table agrees with the log/)
    assert.match(said[2] ?? '', /daybook\.db\.schema-13 is removed: \d/)
    assert.equal(said.length, 3)
  })
})
