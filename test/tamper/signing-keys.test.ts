import assert from 'node:assert/strict'
import { generateKeyPairSync, sign } from 'node:crypto'
import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { keygen } from '../../src/command/operator/keygen-command.ts'
import { defaultKeyFile, readKeyFile, readSigningKeys } from '../../src/command/operator/signing-key-file.ts'
import { CommandError } from '../../src/command/terminal/command-error.ts'
import { openReader } from '../../src/log/open-reader.ts'
import type { ListedKey } from '../../src/log/store/reader.ts'
import { sha256, type SigningKey, verifierKeyOf, verifyRawEd25519 } from '../../src/log/tree/signer.ts'
import { hasStore } from '../../src/log/store/store.ts'
import { openCheckpoint } from '../../src/tlog/checkpoint.ts'
import { formatVkey, openNote, parseNote, parseVkey } from '../../src/tlog/note.ts'
import {
  change,
  flip,
  makeLog,
  NEW_LOG,
  openFolder,
  publishUpTo,
  refusalAtStart,
  runCheck,
  runCommand,
  SIGNING,
  writeKey,
} from '../story/damaged-log.ts'
import { OTHER_KEY, signingKeyOf, TEST_KEY } from '../story/signing.ts'

const { origin } = NEW_LOG
const THIRD_KEY = signingKeyOf('03'.repeat(32))

function vkeyOf({ publicKey }: SigningKey): string {
  return formatVkey(verifierKeyOf(origin, publicKey))
}

function keysOf(data: string): readonly ListedKey[] {
  const log = openReader(data, null)
  try {
    return log.snapshot(({ keys }) => keys())
  } finally {
    log.close()
  }
}

/** Whether a reader who knows only this key accepts the newest checkpoint. */
async function trusts(data: string, { publicKey }: SigningKey): Promise<boolean> {
  const log = openReader(data, null)
  try {
    const keys = [verifierKeyOf(origin, publicKey)]
    const note = log.snapshot(({ tree }) => tree.checkpoint())
    return (await openCheckpoint(Buffer.from(note), { origin, keys }, verifyRawEd25519)).ok
  } finally {
    log.close()
  }
}

/** The message and exit code of a command that refuses its arguments. */
async function mistake(chosen: Parameters<typeof runCommand>[0]): Promise<string> {
  try {
    await runCommand(chosen)
  } catch (error) {
    if (error instanceof CommandError) return `${error.exitCode}: ${error.message}`
    throw error
  }
  return 'none'
}

suite('keygen', () => {
  test('makes a key that only its owner may read, and prints its vkey', async () => {
    using folder = openFolder()
    const to = join(folder.path, 'keys', 'one.key')
    const made = await runCommand((context) => keygen({ to, origin }, context))
    assert.equal(made.code, 0)
    assert.equal(statSync(to).mode & 0o777, 0o600)
    const vkey = made.said.trimEnd().split('\n').at(-1) ?? ''
    const known = parseVkey(sha256, vkey)
    assert.equal(known?.name, origin)
    const { privateKey } = readKeyFile(to, { hasFileModes: true })
    const message = Buffer.from('a text')
    assert.ok(verifyRawEd25519(known?.publicKey ?? message, message, sign(null, message, privateKey)))
    assert.deepEqual(await runCommand((context) => keygen({ show: to, origin }, context)), {
      code: 0,
      said: `${vkey}\n`,
    })
  })

  test('never overwrites a file', async () => {
    using folder = openFolder()
    const to = join(folder.path, 'one.key')
    writeFileSync(to, 'what is there')
    assert.match(await mistake((context) => keygen({ to, origin }, context)), /^2: .* exists already/)
    assert.equal(readFileSync(to, 'utf8'), 'what is there')
  })

  test('takes one of --to and --show', async () => {
    for (const options of [{ origin }, { origin, to: 'a', show: 'b' }]) {
      assert.match(await mistake((context) => keygen(options, context)), /^2: keygen needs either/)
    }
  })
})

suite('the file of a signing key', () => {
  const read = (data: string, files?: readonly string[]): Promise<string> =>
    mistake((context) => {
      readSigningKeys(files, data, origin, context)
      return 0
    })

  test('is made for a new log only', async () => {
    using folder = openFolder()
    assert.equal(await read(folder.data), 'none')
    assert.equal(statSync(defaultKeyFile(folder.data)).mode & 0o777, 0o600)
    const made = readFileSync(defaultKeyFile(folder.data))
    assert.equal(await read(folder.data), 'none')
    assert.ok(readFileSync(defaultKeyFile(folder.data)).equals(made), 'a second start has the same key')
    assert.equal(hasStore(folder.data), false)
    makeLog(folder.data, [3])
    rmSync(defaultKeyFile(folder.data))
    assert.match(await read(folder.data), /^2: the signing key file .*data\.key cannot be read/)
  })

  test('is refused when others may read it, and when it holds no Ed25519 key', async () => {
    using folder = openFolder()
    const file = (name: string): string => join(folder.path, name)
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey
    writeFileSync(file('rsa'), rsa.export({ format: 'pem', type: 'pkcs8' }), { mode: 0o600 })
    const { publicKey } = generateKeyPairSync('ed25519')
    writeFileSync(file('public'), publicKey.export({ format: 'pem', type: 'spki' }), { mode: 0o600 })
    writeFileSync(file('text'), 'no key', { mode: 0o600 })
    writeKey(file('good'), TEST_KEY)
    writeKey(file('again'), TEST_KEY)
    writeKey(file('third'), THIRD_KEY)
    mkdirSync(file('folder'), { mode: 0o700 })
    assert.match(await read(folder.data, [file('rsa')]), /^2: .* does not hold an Ed25519 key/)
    assert.match(
      await read(folder.data, [file('good'), file('again')]),
      /^2: .* both files hold the same key/,
    )
    assert.match(await read(folder.data, ['a', 'b', 'c']), /^2: .* one file, or two/)
    for (const [name, fault] of [
      ['public', 'holds no private key in PEM'],
      ['text', 'holds no private key in PEM'],
      ['folder', 'cannot be read'],
      ['absent', 'cannot be read'],
    ] as const) {
      assert.match(await read(folder.data, [file(name)]), new RegExp(`^2: the signing key file .* ${fault}`))
    }
    for (const mode of [0o604, 0o640, 0o620, 0o601]) {
      chmodSync(file('good'), mode)
      assert.match(await read(folder.data, [file('good')]), /^2: .* may be read by other users/)
    }
    chmodSync(file('good'), 0o400)
    assert.equal(await read(folder.data, [file('good'), file('third')]), 'none')
  })
})

suite('the keys of a log', () => {
  test('are required: another key is refused and nothing changes', () => {
    using folder = openFolder()
    makeLog(folder.data, [3, 5])
    const before = keysOf(folder.data)
    for (const keys of [[OTHER_KEY], [OTHER_KEY, THIRD_KEY]]) {
      assert.match(refusalAtStart(folder.data, { ...SIGNING, keys }) ?? '', /is signed with another key/)
    }
    assert.deepEqual(keysOf(folder.data), before)
  })

  test('change in two steps: first both sign, then only the new one', async () => {
    using folder = openFolder()
    const { data } = folder
    const both = [TEST_KEY, OTHER_KEY]
    makeLog(data, [3, 5])
    assert.equal(refusalAtStart(data, { ...SIGNING, keys: both }), undefined)
    const [old, next] = keysOf(data)
    assert.deepEqual(old, { vkey: vkeyOf(TEST_KEY), fromSize: 0, toSize: null, statement: null })
    assert.deepEqual(
      { ...next, statement: null },
      { vkey: vkeyOf(OTHER_KEY), fromSize: 5, toSize: null, statement: null },
    )
    const note = parseNote(Buffer.from(next?.statement ?? ''))
    assert.ok(note.ok)
    assert.equal(note.value.text, `daybook key rotation v1\n${origin}\n5\n${vkeyOf(OTHER_KEY)}\n`)
    const verified = await openNote(note.value, [verifierKeyOf(origin, TEST_KEY.publicKey)], verifyRawEd25519)
    assert.ok(verified.ok, 'the old key vouches for the new one')
    for (const sizes of [[], [6], [9]]) {
      publishUpTo(data, sizes, both)
      for (const key of both) assert.ok(await trusts(data, key))
      assert.equal(refusalAtStart(data, { ...SIGNING, keys: both.toReversed() }), undefined)
    }
    assert.equal((await runCheck(data)).code, 0)

    assert.equal(refusalAtStart(data, { ...SIGNING, keys: [OTHER_KEY] }), undefined)
    publishUpTo(data, [12], [OTHER_KEY])
    assert.ok((await trusts(data, OTHER_KEY)) && !(await trusts(data, TEST_KEY)))
    assert.deepEqual(
      keysOf(data).map(({ vkey, fromSize, toSize }) => [vkey, fromSize, toSize]),
      [
        [vkeyOf(TEST_KEY), 0, 9],
        [vkeyOf(OTHER_KEY), 5, null],
      ],
    )
    assert.match(refusalAtStart(data) ?? '', /is signed with another key/, 'the old one is retired')
    const { code, said } = await runCheck(data, [OTHER_KEY])
    assert.equal(code, 0, said)
    assert.equal(refusalAtStart(data, { ...SIGNING, keys: both }), undefined, 'and may come back beside it')
    assert.ok(await trusts(data, TEST_KEY))
    assert.equal((await runCheck(data)).code, 0)
  })

  test('may be new ones when the loss of the old key is accepted, and the tree continues', async () => {
    using folder = openFolder()
    const { data } = folder
    makeLog(data, [3, 5])
    const lost = { ...SIGNING, keys: [OTHER_KEY], acceptNewKey: true }
    assert.equal(refusalAtStart(data, lost), undefined)
    assert.deepEqual(keysOf(data), [
      { vkey: vkeyOf(TEST_KEY), fromSize: 0, toSize: 5, statement: null },
      { vkey: vkeyOf(OTHER_KEY), fromSize: 5, toSize: null, statement: null },
    ])
    assert.ok(await trusts(data, OTHER_KEY))
    publishUpTo(data, [8], [OTHER_KEY])
    assert.equal(refusalAtStart(data, { ...SIGNING, keys: [OTHER_KEY] }), undefined)
    const { code, said } = await runCheck(data, [OTHER_KEY])
    assert.equal(code, 0, said)
  })

  test('are the only ones in a checkpoint: a signature of another key is damage', async () => {
    const damages: readonly string[] = [
      "UPDATE events SET signature = CAST(substr(signature, 1, 68) || x'00000000' || substr(signature, 73) AS BLOB) WHERE seq = 310",
      'UPDATE events SET signature = CAST(signature || zeroblob(68) AS BLOB) WHERE seq = 310',
      `UPDATE months SET manifest = json_replace(manifest, '$.checkpoint',
        manifest ->> 'checkpoint' || '— ${origin} AAAAAAAA' || char(10)) WHERE closed = 1`,
    ]
    for (const damage of damages) {
      using folder = openFolder()
      makeLog(folder.data, [3])
      const both = { ...SIGNING, keys: [TEST_KEY, OTHER_KEY] }
      assert.equal(refusalAtStart(folder.data, both), undefined)
      publishUpTo(folder.data, [290, 310], both.keys)
      assert.equal((await runCheck(folder.data)).code, 0)
      change(folder.data, (db) => db.exec(damage))
      const { code, said } = await runCheck(folder.data)
      assert.equal(code, 1, damage)
      assert.match(said, /^seq 291: the tree is not the one that was signed/m)
    }
  })

  test('are not those that an attacker has listed', async () => {
    using folder = openFolder()
    const { data } = folder
    makeLog(data, [3, 5])
    assert.equal(refusalAtStart(data, { ...SIGNING, keys: [TEST_KEY, OTHER_KEY] }), undefined)
    change(data, (db) => flip(db, 'signing_keys', 'statement', 'statement IS NOT NULL'))
    const forged = await runCheck(data)
    assert.equal(forged.code, 1)
    assert.match(forged.said, /^signing_keys: a key is listed with a statement that no older key has signed/m)
    change(data, (db) => db.exec('UPDATE signing_keys SET to_size = 5'))
    assert.match(refusalAtStart(data) ?? '', /is signed with another key/)
    change(data, (db) => db.exec('UPDATE signing_keys SET vkey = substr(vkey, 2) WHERE from_size = 0'))
    assert.match(refusalAtStart(data) ?? '', /lists a signing key that is not well formed/)
  })
})
