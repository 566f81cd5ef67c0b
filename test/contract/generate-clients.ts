import { writeFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/**
 * Generates clients from an OpenAPI document: `node generate-clients.ts openapi.json folder url`. The generators use the
 * compiler as a library, which TypeScript 7 no longer is, so they get TypeScript 5 from another package.
 */
const COMPILER = import.meta.resolve('@ts-morph/common/dist/typescript.js')
registerHooks({
  resolve: (name, context, next) => next(name === 'typescript' ? COMPILER : name, context),
})
const [document = '', folder = '', baseUrl = ''] = process.argv.slice(2)
const { default: openapiTypes, astToString } = await import('openapi-typescript')
const { createClient } = await import('@hey-api/openapi-ts')
const { generate } = await import('orval')

const types = await openapiTypes(pathToFileURL(document))
writeFileSync(join(folder, 'openapi-types.ts'), astToString(types))
await createClient({
  input: document,
  output: { path: join(folder, 'hey-api'), module: { extension: '.ts' } },
  plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
  logs: { level: 'silent' },
})
const target = join(folder, 'orval.ts')
await generate(
  { input: { target: document }, output: { target, client: 'fetch', mode: 'single', baseUrl } },
  folder,
)
