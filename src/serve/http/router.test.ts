import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Route } from './route.ts'
import { openRouter } from './router.ts'

const route = (path: string): Route => ({
  path,
  parameters: [],
  allowance: 'api',
  handle: () => ({ is: 'streamed' }),
})

suite('the router', () => {
  const find = openRouter(
    [
      '/api/v1/events',
      '/api/v1/events/{seq}',
      '/api/v1/events/{seq}/details',
      '/api/v1/events/{seq}/corrections',
      '/api/v1/schedule.ics',
      '/api/v1/archive/{file}',
      '/api/v1/log/tile/{rest...}',
    ].map(route),
  )

  const found: readonly (readonly [string, string, Readonly<Record<string, string>>])[] = [
    ['/api/v1/events', '/api/v1/events', {}],
    ['/api/v1/events/7', '/api/v1/events/{seq}', { seq: '7' }],
    ['/api/v1/events/7/details', '/api/v1/events/{seq}/details', { seq: '7' }],
    ['/api/v1/schedule.ics', '/api/v1/schedule.ics', {}],
    ['/api/v1/archive/2026-10.jsonl.gz', '/api/v1/archive/{file}', { file: '2026-10.jsonl.gz' }],
    ['/api/v1/log/tile/0/x001/067.p/5', '/api/v1/log/tile/{rest...}', { rest: '0/x001/067.p/5' }],
  ]
  for (const [path, template, segments] of found) {
    test(`finds ${path}`, () => {
      const match = find(path)
      assert.equal(match?.route.path, template)
      assert.deepEqual({ ...match?.segments }, segments)
    })
  }

  for (const path of [
    '',
    '*',
    '/api/v1/events/',
    '/api/v1//events',
    '/API/v1/events',
    '/api/v1/events;x=1',
    '/api/v1/event%73',
    '/api/v1/archive/..%2fx',
    '/api/v1/archive/../events',
    '/api\\v1\\events',
    '/api/v1/events/7/',
    '/api/v1/events/7/details/x.css',
    '//evil/api/v1/events',
    `/api/v1/archive/${'a'.repeat(300)}`,
  ]) {
    test(`finds nothing at ${JSON.stringify(path.slice(0, 40))}`, () => assert.equal(find(path), undefined))
  }
})
