import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { type ApiStage, openApiStage } from '../../../test/stage/api-stage.ts'
import { ENDPOINTS } from '../../protocol/endpoints/endpoints.ts'
import { plain } from '../../../test/web/parity/page-tree.ts'

let stage: ApiStage
let page: string
before(async () => {
  stage = await openApiStage()
  page = await (await stage.get('/api')).text()
})
after(() => stage[Symbol.asyncDispose]())

/** The section of one endpoint. */
function sectionOf(id: string, of = page): string {
  const section = new RegExp(`<section aria-labelledby="${id}"[^]*?</section>`).exec(of)?.[0]
  assert.ok(section !== undefined, id)
  return section
}

/** Answers of this service on the page, by request, cut or whole. */
function answersIn(of: string): ReadonlyMap<string, string> {
  const shown = of.matchAll(/answers now to <a data-json href="([^"]+)"[^]*?<pre[^>]*><code>([^]*?)<\/code>/g)
  return new Map([...shown].map(([, request = '', text = '']) => [plain(request), plain(text)]))
}

suite('the reference', () => {
  test('has a heading, a form and an entry in the contents for every endpoint', () => {
    const contents = /<nav aria-label="Contents"[^]*?<\/nav>/.exec(page)?.[0] ?? ''
    for (const { id, path } of ENDPOINTS) {
      const section = sectionOf(id)
      assert.ok(section.includes(`<h2 id="${id}">GET ${path.replace('...}', '}')}</h2>`), id)
      assert.ok(section.includes(`<input type="hidden" name="endpoint" value="${id}" />`), id)
      assert.ok(contents.includes(`<a href="#${id}">`), id)
    }
  })

  test('has each parameter with its form, default, bounds, example and meaning', () => {
    for (const { id, parameters } of ENDPOINTS) {
      const section = plain(sectionOf(id)).replaceAll(/<\/?code>|`/g, '')
      for (const { name, absent, meaning, example } of parameters) {
        const row = new RegExp(`<th scope="row">${name}</th>[^]*?</tr>`).exec(section)?.[0] ?? ''
        const cells = [
          ` data-label="Default:">${absent}`,
          ` data-label="Example:">${example}`,
          ` >${meaning}`,
        ]
        for (const told of cells) {
          assert.ok(row.includes(`<td${told.replaceAll('`', '')}</td>`), `${id} ${name}: ${told}`)
        }
      }
    }
    assert.match(sectionOf('events'), /<td data-label="Bounds:">1 to 10000<\/td>/)
  })

  test('has no link to a fragment inside closed details', () => {
    const unfolded = page.replaceAll(/<details>[^]*?<\/details>/g, '')
    const fragments = new Set([...page.matchAll(/href="#([^"]+)"/g)].map(([, id = '']) => id))
    assert.ok(fragments.size > ENDPOINTS.length)
    for (const id of fragments) assert.equal(unfolded.split(` id="${id}"`).length, 2, id)
  })

  test('shows the present answers of the service, and where they are cut', async () => {
    const answers = answersIn(page)
    // Files, notes, the stream and the two descriptions have no such answer.
    const shown = ENDPOINTS.filter(({ answer }) => !answer.includes('/') || answer.includes('json'))
    assert.equal(answers.size, shown.length - 2)
    for (const [request, text] of answers) {
      const whole = JSON.stringify(await (await stage.get(request)).json(), null, 2)
      const isCut = text.endsWith('\n… cut here')
      assert.equal(isCut, whole.length > 1_200, request)
      assert.equal(text.replace('\n… cut here', ''), isCut ? whole.slice(0, 1_200) : whole)
      if (isCut) assert.ok(page.includes(`the first 1200 of ${whole.length} characters`), request)
    }
  })

  test('shows a new answer after a new event', async () => {
    await using other = await openApiStage()
    const [, before_ = ''] = [...answersIn(await (await other.get('/api')).text())][0] ?? []
    other.trade(1)
    const [, after_ = ''] = [...answersIn(await (await other.get('/api')).text())][0] ?? []
    assert.match(before_, /"seq": 13,/)
    assert.match(after_, /"seq": 14,/)
  })

  test('is complete for an empty log', async () => {
    await using empty = await openApiStage({ story: [] })
    const answer = await empty.get('/api')
    assert.equal(answer.status, 200)
    const early = await answer.text()
    for (const { id } of ENDPOINTS) assert.match(sectionOf(id, early), /curl -/)
    for (const request of answersIn(early).keys()) assert.equal((await empty.get(request)).status, 200)
  })

  const sent: readonly (readonly [sent: string, asked: string])[] = [
    ['endpoint=flows&from=&to=&bucket=hour', '/api/v1/flows?bucket=hour'],
    ['endpoint=events&type=payout%2Cburn&limit=3&order=', '/api/v1/events?type=payout%2Cburn&limit=3'],
    ['endpoint=event&seq=10', '/api/v1/events/10'],
    ['endpoint=logTile&level=0&tile=000.p%2F13', '/api/v1/log/tile/0/000.p/13'],
    ['endpoint=flows&bucket=', '/api/v1/flows'],
    ['endpoint=contests&status=paid&limit=%202', '/api/v1/contests?status=paid&limit=2'],
  ]
  for (const [form, asked] of sent) {
    test(`redirects the form ${form} to ${asked}`, async () => {
      const response = await fetch(`http://127.0.0.1:${stage.port}/api?${form}`, { redirect: 'manual' })
      assert.equal(response.status, 303)
      assert.equal(response.headers.get('location'), asked)
      assert.equal((await stage.get(asked)).status, 200)
    })
  }

  test('redirects to a URL that can be quoted in a shell', async () => {
    const form = "endpoint=events&kind=a'b"
    const response = await fetch(`http://127.0.0.1:${stage.port}/api?${form}`, { redirect: 'manual' })
    assert.equal(response.headers.get('location'), '/api/v1/events?kind=a%27b')
  })

  test('redirects nowhere else', async () => {
    for (const form of [
      'endpoint=event&seq=..%2Fflows',
      'endpoint=event&seq=',
      'endpoint=event&seq=%2F%2Fa.example',
    ]) {
      assert.equal((await stage.get(`/api?${form}`)).status, 200, form)
      assert.equal(
        (await fetch(`http://127.0.0.1:${stage.port}/api?${form}`, { redirect: 'manual' })).status,
        200,
      )
    }
    assert.equal((await stage.get('/api?endpoint=nothing')).status, 400)
  })
})
