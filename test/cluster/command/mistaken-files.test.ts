import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { run } from '../../stage/command-stage.ts'
import { makeLog, openFolder } from '../../story/damaged-log.ts'

/** Files with NUL bytes, with nothing, and with bytes of no text. */
const BAD_FILES = [
  ['nul', Buffer.alloc(200)],
  ['empty', Buffer.alloc(0)],
  ['binary', Buffer.from([0xff, 0xfe, 0x00, 0x80, 0xc3])],
] as const

suite('a wrong file of a log on several nodes is reported in one line', () => {
  for (const [name, bytes] of BAD_FILES) {
    test(`when the password or the certificate is ${name}`, async () => {
      using folder = openFolder()
      makeLog(folder.data, [1])
      const path = join(folder.path, name)
      writeFileSync(path, bytes, { mode: 0o600 })
      const serve = ['serve', '--data', folder.data, '--port', '0', '--publish-port', '0']
      const url = 'postgres://a@db.example.org/b?sslmode=verify-full'
      for (const [words, said] of [
        [['--log-store', url, '--log-store-credentials', path], /--log-store-credentials/],
        [['--log-store', `${url}&sslrootcert=${path}`], /it holds no certificate or key in PEM/],
      ] as const) {
        const { code, stderr } = await run([...serve, ...words])
        assert.equal(code, 2, stderr)
        assert.match(stderr, /^daybook: [^\n]+\n$/)
        assert.match(stderr, said)
        assert.doesNotMatch(stderr, /DECODER|routines|[\0\ufffd]/)
      }
    })
  }
})
