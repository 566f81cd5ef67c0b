import assert from 'node:assert/strict'
import { cpSync, rmSync } from 'node:fs'
import { test } from 'node:test'
import { SCHEMA_VERSION } from '../../src/log/store/store-schema.ts'
import { readStoreIdentity, storePath } from '../../src/log/store/store.ts'
import { headOf } from '../../src/log/tree/log-fault.ts'
import { keptSchemas, unpackKept } from '../books/kept-store.ts'
import { run } from '../stage/command-stage.ts'
import { change, openFolder, publishUpTo, refusalAtStart, runCheck, SIGNING } from '../story/damaged-log.ts'
import { keptStoreOf, upgrade } from '../upgrade/upgrade-stage.ts'
import { runRestore } from './restore-stage.ts'

for (const schema of keptSchemas().filter((kept) => kept < SCHEMA_VERSION)) {
  test(`a restored backup of schema ${schema} is upgraded without events that were published since, and a start refuses the loss or begins a new log`, async () => {
    using kept = unpackKept(schema)
    using folder = openFolder()
    const { data, keys } = kept
    cpSync(data, folder.path, { recursive: true })
    await upgrade(data)
    const { id } = readStoreIdentity(data)
    const head = change(data, headOf)
    publishUpTo(data, [head + 1], keys)
    rmSync(storePath(data))
    rmSync(keptStoreOf(data, schema))
    const restored = await runRestore(storePath(folder.path), data, true)
    assert.equal(restored.code, 0, restored.said)
    const upgraded = await run(['upgrade', '--data', data])
    assert.equal(upgraded.code, 0, upgraded.stderr)
    const refusal = new RegExp(`^seq ${head + 1}: .* or --accept-loss`, 'm')
    assert.match(upgraded.stderr, refusal)
    const signing = { ...SIGNING, keys }
    assert.match(refusalAtStart(data, signing) ?? '', new RegExp(`^seq ${head + 1}: `))
    assert.equal(refusalAtStart(data, { ...signing, acceptLoss: true }), undefined)
    assert.notEqual(readStoreIdentity(data).id, id)
    assert.equal((await runCheck(data, keys)).code, 0)
  })
}
