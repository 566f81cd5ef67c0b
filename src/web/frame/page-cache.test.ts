import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { Reply } from '../../serve/http/route.ts'
import { openPageCache } from './page-cache.ts'

function pageOf(body: string): Reply {
  return { is: 'body', keep: 'revalidate', etag: 'of-content', type: 'text/html', body: Buffer.from(body) }
}

/** Writes pages and counts them. */
function openWriter() {
  const written: string[] = []
  const write = (body: string) => (): Promise<Reply> => {
    written.push(body)
    return Promise.resolve(pageOf(body))
  }
  return { written, write }
}

suite('the page cache', () => {
  test('renders a page once for concurrent and later requests in one state', async () => {
    const cache = openPageCache()
    const { written, write } = openWriter()
    const [first, second] = await Promise.all([
      cache.reply('/', 'one', write('a')),
      cache.reply('/', 'one', write('b')),
    ])
    assert.equal(first, second)
    assert.equal(await cache.reply('/', 'one', write('c')), first)
    assert.deepEqual(written, ['a'])
  })

  test('renders a page again in another state, and for another key', async () => {
    const cache = openPageCache()
    const { written, write } = openWriter()
    await cache.reply('/', 'one', write('a'))
    await cache.reply('/', 'two', write('b'))
    await cache.reply('/flows', 'two', write('c'))
    await cache.reply('/', 'two', write('d'))
    assert.deepEqual(written, ['a', 'b', 'c'])
  })

  test('does not cache refusals, failures and redirects', async () => {
    const cache = openPageCache()
    const elsewhere: Reply = { is: 'elsewhere', status: 303, location: '/' }
    const refused: Reply = { is: 'problem', problem: { code: 'not-found', detail: 'Nothing.' } }
    const told: Reply = { ...pageOf('no'), is: 'body', status: 404, body: 'no' } as Reply
    for (const reply of [elsewhere, refused, told]) {
      assert.equal(await cache.reply('/', 'one', () => Promise.resolve(reply)), reply)
      await Promise.resolve()
    }
    await assert.rejects(
      cache.reply('/', 'one', () => Promise.reject(new Error('it fails'))),
      /it fails/,
    )
    await Promise.resolve()
    const { written, write } = openWriter()
    await cache.reply('/', 'one', write('a'))
    assert.deepEqual(written, ['a'])
  })

  test('holds a limited number of bytes and pages, and evicts the least recently used', async () => {
    const cache = openPageCache(10)
    const { written, write } = openWriter()
    await cache.reply('/a', 'one', write('aaaa'))
    await cache.reply('/b', 'one', write('bbbb'))
    await turn()
    await cache.reply('/a', 'one', write('again'))
    await cache.reply('/c', 'one', write('cccc'))
    await turn()
    await cache.reply('/a', 'one', write('again'))
    await cache.reply('/b', 'one', write('bbbb'))
    assert.deepEqual(written, ['aaaa', 'bbbb', 'cccc', 'bbbb'])
    const many = openPageCache()
    for (let index = 0; index < 300; index += 1) await many.reply(`/${index}`, 'one', write('x'))
    written.length = 0
    await many.reply('/299', 'one', write('kept'))
    await many.reply('/0', 'one', write('gone'))
    assert.deepEqual(written, ['gone'])
  })
})
