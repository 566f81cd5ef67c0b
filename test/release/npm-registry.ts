import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** A publication, as npm sends it. */
type Publication = Readonly<{
  name: string
  'dist-tags': Readonly<Record<string, string>>
  versions: Readonly<Record<string, Readonly<{ dist: Readonly<{ integrity: string }> }>>>
  _attachments: Readonly<Record<string, Readonly<{ data: string }>>>
}>

/** A registry in memory: what was published, and the `.npmrc` of one who may publish. */
export type NpmRegistry = Disposable & Readonly<{ published: readonly Publication[]; npmrc: string }>

/** Opens a registry of npm packages that takes every publication. */
export async function openNpmRegistry(): Promise<NpmRegistry> {
  const published: Publication[] = []
  const server = createServer(async (request, response) => {
    const body = await text(request)
    if (request.method === 'PUT') published.push(JSON.parse(body))
    const name = decodeURIComponent(request.url ?? '').slice(1)
    const found = published.findLast((publication) => publication.name === name)
    response.writeHead(found === undefined ? 404 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(found ?? { error: 'not_found' }))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    published,
    npmrc: `registry=http://${host}/\n//${host}/:_authToken=none\nupdate-notifier=false\n`,
    [Symbol.dispose]: () => server.close(),
  }
}
