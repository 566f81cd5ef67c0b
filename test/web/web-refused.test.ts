import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { PROBLEMS } from '../../src/protocol/problem.ts'
import { type ApiStage, openApiStage } from '../stage/api-stage.ts'
import { elementsIn, parseMarkup, plain, textIn } from './parity/page-tree.ts'
import { REFUSED } from './parity/web-addresses.ts'

let stage: ApiStage
before(async () => {
  stage = await openApiStage()
})
after(() => stage[Symbol.asyncDispose]())

type ProblemJson = Readonly<{
  status: number
  code: string
  title: string
  detail: string
  errors?: readonly Readonly<{ message: string }>[]
}>

/** Content of a page without its frame. */
const mainOf = (page: string): ReturnType<typeof parseMarkup> =>
  parseMarkup(/<main[^>]*>[^]*<\/main>/.exec(page)?.[0] ?? '')

suite('a refused page', () => {
  for (const [path, status, code] of REFUSED) {
    test(`${path} has the API's status ${status}, its text for ${code} and a link`, async () => {
      const response = await stage.get(path)
      const page = await response.text()
      assert.equal(response.status, status)
      assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8')
      assert.equal(response.headers.get('cache-control'), 'no-store')
      assert.match(page, /<a class="button" href="\/">Start page<\/a>/)
      const said = textIn(mainOf(page)).replaceAll('`', '')
      assert.match(page, /<h1>[^<]+<\/h1>/)
      // Some paths do not exist in the API, so there is no JSON to link.
      const problem = (await (await stage.get(`/api/v1${path}`)).json()) as ProblemJson
      const twin = /<a class="button" href="([^"]+)">JSON of this error/.exec(page)?.[1]
      assert.equal(twin === undefined, problem.code === 'not-found', 'it leads to the same as JSON')
      if (twin === undefined) return
      assert.equal(plain(twin), `/api/v1${path}`)
      assert.equal(problem.status, status)
      assert.equal(problem.code, code)
      assert.equal(problem.title, PROBLEMS[code].title)
      assert.ok(page.includes(`<h1>${problem.title}</h1>`), said)
      // A path of the API is for programs: the page leaves its sentence out.
      const detail = problem.detail.split(/(?<=\.) /).filter((sentence) => !sentence.includes('/api/'))
      for (const words of [detail.join(' '), ...(problem.errors ?? []).map(({ message }) => message)]) {
        // A title that says the same stands for a detail.
        assert.ok(said.includes(words.replaceAll('`', '').replace(/\.$/, '')), said)
      }
    })
  }

  test('above the head names the head', async () => {
    assert.match(
      await (await stage.get('/events/999')).text(),
      /The newest event is <a href="\/events\/13"><data value="13">13</,
    )
  })

  test('links the allowed values', async () => {
    assert.match(await (await stage.get('/flows?bucket=year')).text(), /href="\/flows\?bucket=week"/)
  })

  const places = [
    '/flows?bucket=',
    '/flows?from=2026-10-01&bucket=',
    '/flows?',
    '/summary?at=',
    '/contests?status=',
    '/payouts?contestId=',
    '/events/',
    '/contests/',
    '/',
  ]
  for (const sent of [
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    "javascript:alert(1)//'",
  ]) {
    test(`repeats ${sent} only escaped, in the address of its JSON`, async () => {
      for (const place of places) {
        const page = await (await stage.get(`${place}${encodeURIComponent(sent)}`)).text()
        for (const { name, attributes, children } of elementsIn(mainOf(page))) {
          assert.notEqual(name, 'script', place)
          assert.doesNotMatch(children.filter((one) => typeof one === 'string').join(''), /alert/, place)
          for (const [key, value] of attributes) {
            assert.doesNotMatch(key, /^on/, place)
            if (value.includes('alert'))
              assert.match(value, /^\/api\/v1\/[\w/]+\?[\w%()=&.-]+$/, `${key} at ${place}`)
          }
        }
        // Nor in its title, head and frame.
        const rest = page.replaceAll(/href="\/api\/v1\/[\w/]+\?[\w%()=&;.-]+"/g, '')
        assert.doesNotMatch(rest, /alert/, place)
      }
    })
  }
})

suite('a shared link with tracking parameters', () => {
  const ledTo = async (path: string): Promise<readonly unknown[]> => {
    const response = await fetch(`http://127.0.0.1:${stage.port}${path}`, { redirect: 'manual' })
    await response.arrayBuffer()
    return [response.status, response.headers.get('location'), response.headers.get('cache-control')]
  }

  for (const [path, to] of [
    ['/?fbclid=IwAR0abc-_x', '/'],
    ['/contests/1/ledger?utm_source=x&utm_medium=social', '/contests/1/ledger'],
    ['/contests/1?gclid=1', '/contests/1'],
    ['/flows?bucket=week&msclkid=9&from=2026-10-01', '/flows?bucket=week&from=2026-10-01'],
    ['/events?gbraid=1&&type=payout%2Cburn&wbraid=2', '/events?type=payout%2Cburn'],
    ['/events?gad_source=1&gad_campaignid=2&gbraid=3&type=burn', '/events?type=burn'],
    ['/events/7?_hsenc=p2ANqtz&_hsmi=1', '/events/7'],
    ['/find?q=daily+sketch&mc_cid=1&mc_eid=2', '/find?q=daily+sketch'],
    ['/log/checkpoint?igshid=1', '/log/checkpoint'],
    ['/patterns?yclid=1&tz=60', '/patterns?tz=60'],
    ['/about?twclid=4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T', '/about'],
    // A fault beside them is refused at the address without them.
    ['/flows?ttclid=1&bukcet=week', '/flows?bukcet=week'],
  ] as const) {
    test(`leads from ${path} to ${to}, uncached`, async () => {
      assert.deepEqual(await ledTo(path), [303, to, 'no-store'])
    })
  }

  for (const path of [
    '/flows?bukcet=week',
    '/flows?utm=1',
    '/flows?Fbclid=1',
    '/contests?q=4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T&fbclid=1',
    '/flows.json?fbclid=1',
    '/flows.csv?fbclid=1',
    '/flows.svg?fbclid=1',
    '/schedule.ics?utm_source=x',
    '/feed.atom?utm_source=x',
    '/api/v1/flows?utm_source=x',
    '/api/v1?fbclid=1',
  ]) {
    test(`is refused at ${path}`, async () => {
      assert.deepEqual(await ledTo(path), [400, null, 'no-store'])
    })
  }

  test('is no redirect where nothing is', async () => {
    assert.deepEqual(await ledTo('/nothing?fbclid=1'), [404, null, 'no-store'])
  })
})
