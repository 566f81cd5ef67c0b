import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { textOf } from '../stage/document.ts'

type Manifest = Readonly<{ version: string; optionalDependencies: Readonly<Record<string, string>> }>

const DOCKERFILE = textOf('Dockerfile')

suite('the Dockerfile', () => {
  test('takes the Node of package.json, and names the version of the package', () => {
    const { version, optionalDependencies }: Manifest = JSON.parse(textOf('package.json'))
    for (const node of Object.values(optionalDependencies))
      assert.match(DOCKERFILE, new RegExp(`^FROM node:${node}-bookworm AS build$`, 'm'))
    assert.match(DOCKERFILE, new RegExp(`image\\.version="${version}"`))
  })

  test('leaves keys, stores and built files out of what it sends to the builder', () => {
    const left = textOf('.dockerignore').trim().split('\n')
    for (const path of [
      '.git',
      'node_modules',
      'dist',
      'dist-*',
      '*.key',
      '.daybook-demo',
      'data',
      'secrets',
      'backups',
    ])
      assert.ok(left.includes(path), path)
  })
})
