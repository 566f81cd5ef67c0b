import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openApiStage } from '../../../test/stage/api-stage.ts'
import { msOf } from '../../protocol/moment.ts'

const PATH = '/.well-known/security.txt'

suite('security.txt (RFC 9116)', () => {
  test('names the contact of the operator, and expires within a year of the start of the service', async () => {
    const startedAt = msOf(Date.UTC(2026, 9, 1, 13, 45))
    await using stage = await openApiStage({
      site: { url: 'https://data.example', contact: 'mailto:security@data.example', startedAt },
    })
    const response = await stage.get(PATH)
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('content-type'), 'text/plain; charset=utf-8')
    const text = await response.text()
    assert.equal(
      text,
      `Contact: mailto:security@data.example
Expires: 2027-09-30T00:00:00.000Z
Preferred-Languages: en
Canonical: https://data.example${PATH}
`,
    )
    stage.setNow(msOf(startedAt + 100 * 86_400_000))
    assert.equal(await (await stage.get(PATH)).text(), text, 'the present does not move it')
  })

  test('is 404 and says why while the operator has no contact', async () => {
    await using stage = await openApiStage()
    const response = await stage.get(PATH)
    assert.equal(response.status, 404)
    const { code, detail } = (await response.json()) as { code: string; detail: string }
    assert.equal(code, 'not-found')
    assert.match(detail, /published no contact, so there is no security\.txt/)
  })
})
