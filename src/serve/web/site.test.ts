import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { baseOf, parseHost } from './site.ts'

suite('the host by which a page was asked', () => {
  const known: readonly (readonly [host: string, base: string])[] = [
    ['data.example.org', 'https://data.example.org'],
    ['data.example.org:8443', 'https://data.example.org:8443'],
    ['localhost', 'http://localhost'],
    ['LOCALHOST:8080', 'http://LOCALHOST:8080'],
    ['localhost.example.org', 'https://localhost.example.org'],
    ['127.0.0.1:8080', 'http://127.0.0.1:8080'],
    ['192.168.1.20', 'http://192.168.1.20'],
    ['[::1]:8080', 'http://[::1]:8080'],
    ['[2001:db8::5]', 'http://[2001:db8::5]'],
    ['[::ffff:192.0.2.1]', 'http://[::ffff:192.0.2.1]'],
  ]
  for (const [host, base] of known) {
    test(`begins addresses: ${host}`, () => {
      assert.equal(parseHost(host), host)
      assert.equal(baseOf(parseHost(host)), base)
    })
  }

  for (const host of [
    '',
    'a"b',
    'a/b',
    '::1',
    '[::1',
    '[::1]x',
    '[x]',
    '[]',
    'a:b',
    'a:999999',
    '[1.2.3.4]',
  ]) {
    test(`is not known where it is none: ${JSON.stringify(host)}`, () => {
      assert.equal(parseHost(host), null)
    })
  }
})
