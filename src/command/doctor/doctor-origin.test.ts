import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { originDiagnosis } from './doctor-origin.ts'

suite('the name of a log', () => {
  const levels = (origin: string, url: string): readonly string[] =>
    originDiagnosis({ origin, simulated: origin.startsWith('simulated.') }, url).map(({ is }) => is)

  test('that names no site is a fault behind a public address', () => {
    assert.deepEqual(levels('localhost/daybook', 'https://data.example.org'), ['wrong'])
    assert.deepEqual(levels('simulated.localhost/daybook', 'https://data.example.org'), ['warn'])
    assert.deepEqual(levels('localhost/daybook', 'http://192.0.2.7:8080'), ['wrong'])
  })

  test('is no fault when it names a site, or on this machine', () => {
    assert.deepEqual(levels('data.example.org/book', 'https://data.example.org'), [])
    for (const host of ['localhost:8080', '127.0.0.1', '[::1]:8080', 'book.localhost'])
      assert.deepEqual(levels('localhost/daybook', `http://${host}`), [], host)
  })
})
