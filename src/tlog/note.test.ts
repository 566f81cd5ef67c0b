import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { codePoints } from '../../test/story/code-points.ts'
import { keyOfSeed, LOG_SEED, sha256, verifyEd25519 } from '../../test/tlog/example.ts'
import { cosignText } from './cosignature.ts'
import {
  formatNote,
  formatVkey,
  isKeyName,
  isLine,
  type Note,
  NOTE_BYTES_MAX,
  openNote,
  parseNote,
  parseVkey,
  signText,
  type VerifierKey,
  verifierKey,
} from './note.ts'

const seed = (byte: number): Uint8Array => new Uint8Array(32).fill(byte)
const log = keyOfSeed('log.example/a', 'ed25519', LOG_SEED)
const other = keyOfSeed('log.example/b', 'ed25519', seed(2))
const witness = keyOfSeed('witness.example/w', 'ed25519-cosignature', seed(3))
const TEXT = `log.example/a\n1\n${'A'.repeat(43)}=\n`
const byLog = signText(log.key, log.sign, TEXT)
const byOther = signText(other.key, other.sign, TEXT)
const byWitness = cosignText(witness.key, witness.sign, 1_760_000_000, TEXT)

/** Bytes of the public key of each type, and the code of the type in C2SP signed-note. */
const KEY_TYPES = [
  ['ed25519', 32, 0x01],
  ['ed25519-cosignature', 32, 0x04],
  ['ml-dsa-44-cosignature', 1_312, 0x06],
] as const

const names = fc.string({ unit: codePoints, minLength: 1, maxLength: 30 }).filter(isKeyName)
const bytes = (minLength: number, maxLength: number) => fc.uint8Array({ minLength, maxLength })
const signatures = fc
  .tuple(names, bytes(4, 4), bytes(1, 100))
  .map(([name, id, signature]) => ({ name, keyId: Buffer.from(id).toString('hex'), signature }))
const texts = fc
  .array(fc.string({ unit: codePoints, maxLength: 30 }).filter(isLine), { minLength: 1, maxLength: 6 })
  .map((lines) => lines.map((line) => `${line}\n`).join(''))
const notes: fc.Arbitrary<Note> = fc
  .tuple(texts, fc.array(signatures, { minLength: 1, maxLength: 20 }))
  .map(([text, lines]) => ({ text, signatures: lines }))

const doubtOf = (text: string): string | null => {
  const note = parseNote(Buffer.from(text))
  return note.ok ? null : note.doubt
}
const opened = async (note: Note, keys: readonly VerifierKey[]): Promise<string> => {
  const verdict = await openNote(note, keys, verifyEd25519)
  return verdict.ok ? verdict.value.signers.map(({ name }) => name).join(' ') : verdict.doubt
}

suite('a signed note', () => {
  test('is parsed to the formatted value', () => {
    fc.assert(
      fc.property(notes, (note) => {
        assert.deepEqual(parseNote(Buffer.from(formatNote(note))), { ok: true, value: note })
      }),
    )
  })

  test('has only one accepted form', () => {
    const mutated = fc.tuple(notes, fc.nat(), fc.nat(255), fc.constantFrom('alter', 'drop', 'add'))
    fc.assert(
      fc.property(mutated, ([note, pick, byte, way]) => {
        const given = [...Buffer.from(formatNote(note))]
        given.splice(pick % given.length, way === 'add' ? 0 : 1, ...(way === 'drop' ? [] : [byte]))
        const read = parseNote(Uint8Array.from(given))
        if (read.ok) assert.deepEqual([...Buffer.from(formatNote(read.value))], given)
      }),
      { numRuns: 1_000 },
    )
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (given) => !parseNote(given).ok))
  })

  test('keeps a byte order mark, which is signed as a character', () => {
    const text = '\ufeffa\n'
    const note = parseNote(Buffer.from(formatNote({ text, signatures: [byLog] })))
    assert.equal(note.ok && note.value.text, text)
  })

  test('ends its text at the last blank line', () => {
    const text = 'a\n\n— not.a.signature AAAAAAA=\n\nb\n'
    const note = parseNote(Buffer.from(formatNote({ text, signatures: [byLog] })))
    assert.equal(note.ok && note.value.text, text)
  })

  const line = formatNote({ text: TEXT, signatures: [byLog] }).slice(`${TEXT}\n`.length)
  const table: readonly (readonly [why: string, note: string])[] = [
    ['has no signature', TEXT],
    ['has no signature after its blank line', `${TEXT}\n`],
    ['has no blank line', `${TEXT}${line}`],
    ['ends without a line feed', `${TEXT}\n${line.slice(0, -1)}`],
    ['ends in a blank line', `${TEXT}\n${line}\n`],
    ['has a carriage return in its text', `a\r\n\n${line}`],
    ['has a tab in its text', `a\tb\n\n${line}`],
    ['has a zero in its text', `a\0\n\n${line}`],
    ['has a hyphen for the em dash', `${TEXT}\n${line.replace('—', '-')}`],
    ['has an en dash for the em dash', `${TEXT}\n${line.replace('—', '–')}`],
    ['has two spaces behind the em dash', `${TEXT}\n${line.replace('— ', '—  ')}`],
    ['has a space at the end of a line', `${TEXT}\n${line.replace('\n', ' \n')}`],
    ['has a carriage return at the end of a line', `${TEXT}\n${line.replace('\n', '\r\n')}`],
    ['has a plus in a name', `${TEXT}\n${line.replace('log', 'l+g')}`],
    ['has a space of another script in a name', `${TEXT}\n${line.replace('log', 'l\u3000g')}`],
    ['has no name', `${TEXT}\n— AAAAAAA=\n`],
    ['has a key id and no signature', `${TEXT}\n— a AAAAAA==\n`],
    ['has base64 without its padding', `${TEXT}\n— a AAAAAAA\n`],
    ['has base64 with bits left over', `${TEXT}\n— a AAAAAAB=\n`],
    ['has base64 of the other alphabet', `${TEXT}\n— a AAAAAA-_\n`],
    ['has another line among its signatures', `${TEXT}\n${line}hello\n`],
    ['is empty', ''],
  ]
  for (const [why, note] of table) {
    test(`is refused when it ${why}`, () => assert.equal(doubtOf(note), 'note-malformed'))
  }

  test('is refused when it is malformed UTF-8', () => {
    for (const broken of [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80]]) {
      const given = Buffer.concat([
        Uint8Array.from(broken),
        Buffer.from(formatNote({ text: TEXT, signatures: [byLog] })),
      ])
      assert.deepEqual(parseNote(given), { ok: false, doubt: 'note-malformed' })
    }
  })

  test('has at most 64 signatures and a limited length', () => {
    const full = { text: TEXT, signatures: Array.from({ length: 64 }, () => byLog) }
    const written = formatNote(full)
    assert.equal(doubtOf(written), null)
    assert.equal(doubtOf(written + line), 'note-malformed')
    assert.equal(doubtOf(`${'a'.repeat(NOTE_BYTES_MAX)}\n\n${line}`), 'note-too-long')
    assert.throws(() => formatNote({ ...full, signatures: [...full.signatures, byLog] }), RangeError)
    assert.throws(() => formatNote({ ...full, text: `${'a'.repeat(NOTE_BYTES_MAX)}\n` }), RangeError)
  })

  test('is never formatted in a form that the parser refuses', () => {
    for (const text of ['', 'a', 'a\tb\n', 'a\r\n', '\ud800\n']) {
      assert.throws(() => formatNote({ text, signatures: [byLog] }), RangeError)
    }
    assert.throws(() => formatNote({ text: TEXT, signatures: [] }), RangeError)
    for (const change of [{ name: 'a b' }, { keyId: 'abcd' }, { signature: new Uint8Array(0) }]) {
      assert.throws(() => formatNote({ text: TEXT, signatures: [{ ...byLog, ...change }] }), RangeError)
    }
  })
})

suite('the signatures of a note', () => {
  test('need one by a known key; those by unknown keys are ignored', async () => {
    const note = { text: TEXT, signatures: [byOther, byLog, byWitness] }
    assert.equal(await opened(note, [log.key]), 'log.example/a')
    assert.equal(await opened(note, [witness.key, log.key]), 'log.example/a')
    assert.equal(await opened(note, [witness.key]), 'no-known-signature')
    assert.equal(await opened(note, []), 'no-known-signature')
    assert.equal(await opened({ ...note, signatures: [byOther] }, [log.key]), 'no-known-signature')
  })

  test('are all refused when one by a known key is invalid', async () => {
    const bad = { ...byOther, signature: byLog.signature }
    const note = { text: TEXT, signatures: [byLog, bad] }
    assert.equal(await opened(note, [log.key]), 'log.example/a')
    assert.equal(await opened(note, [log.key, other.key]), 'bad-signature')
    const twice = { text: TEXT, signatures: [byLog, { ...byLog, signature: byOther.signature }] }
    assert.equal(await opened(twice, [log.key]), 'bad-signature')
    assert.equal(await opened({ text: TEXT, signatures: [byLog, byLog] }, [log.key]), 'log.example/a')
  })

  test('are invalid for another text or another length', async () => {
    assert.equal(await opened({ text: `${TEXT}x\n`, signatures: [byLog] }, [log.key]), 'bad-signature')
    for (const changed of [byLog.signature.subarray(1), Uint8Array.from([...byLog.signature, 0])]) {
      const note = { text: TEXT, signatures: [{ ...byLog, signature: changed }] }
      assert.equal(await opened(note, [log.key]), 'bad-signature')
    }
  })

  test('are invalid once any byte of the note has changed', async () => {
    const written = Buffer.from(formatNote({ text: TEXT, signatures: [byLog] }))
    const changes = fc.tuple(fc.nat(written.length - 1), fc.integer({ min: 1, max: 255 }))
    await fc.assert(
      fc.asyncProperty(changes, async ([at, change]) => {
        const changed = Uint8Array.from(written, (byte, index) => (index === at ? byte ^ change : byte))
        const note = parseNote(changed)
        if (note.ok) assert.notEqual(await opened(note.value, [log.key]), 'log.example/a')
      }),
      { numRuns: 500 },
    )
  })

  test('cannot be made with the key of a witness', () => {
    assert.throws(() => signText(witness.key, witness.sign, TEXT), RangeError)
  })
})

suite('a vkey', () => {
  const keys = fc
    .tuple(names, fc.constantFrom(...KEY_TYPES), bytes(1_312, 1_312))
    .map(([name, [type, length], key]) => verifierKey(sha256, name, type, key.subarray(0, length)))

  test('is parsed to the formatted value', () => {
    fc.assert(fc.property(keys, (key) => assert.deepEqual(parseVkey(sha256, formatVkey(key)), key)))
  })

  test('has the code of its type in its key id and its base64', () => {
    for (const [type, length, code] of KEY_TYPES) {
      const coded = Buffer.concat([Buffer.from([code]), Buffer.alloc(length, 7)])
      const id = createHash('sha256').update('a.example/k\n').update(coded).digest('hex').slice(0, 8)
      const key = verifierKey(sha256, 'a.example/k', type, coded.subarray(1))
      assert.equal(formatVkey(key), `a.example/k+${id}+${coded.toString('base64')}`)
    }
  })

  test('is refused with any character altered, dropped or added', () => {
    const way = fc.constantFrom('alter', 'drop', 'add')
    fc.assert(
      fc.property(keys, fc.nat(), fc.string({ minLength: 1, maxLength: 1 }), way, (key, pick, char, how) => {
        const vkey = formatVkey(key)
        const given = Array.from(vkey)
        given.splice(pick % given.length, how === 'add' ? 0 : 1, ...(how === 'drop' ? [] : [char]))
        if (given.join('') !== vkey) assert.equal(parseVkey(sha256, given.join('')), undefined)
      }),
      { numRuns: 500 },
    )
  })

  test('is refused with an unknown key type or a malformed name', () => {
    const { name, keyId, publicKey } = log.key
    const encoded = Buffer.from([0x06, ...publicKey]).toString('base64')
    assert.equal(parseVkey(sha256, `${name}+${keyId}+${encoded}`), undefined)
    for (const text of ['', '+', '++', 'a+b+c', `${name}+${keyId}`, `${name}+${keyId}+`]) {
      assert.equal(parseVkey(sha256, text), undefined)
    }
    for (const bad of ['', 'a b', 'a+b', 'a\u00a0b', 'a\u0001', '\ud800']) {
      assert.throws(() => verifierKey(sha256, bad, 'ed25519', publicKey), RangeError)
    }
    assert.throws(() => verifierKey(sha256, name, 'ed25519', publicKey.subarray(1)), RangeError)
  })
})
