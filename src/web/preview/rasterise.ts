import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { initWasm, Resvg } from '@resvg/resvg-wasm'
import { fontFile, PREVIEW_FONT } from './preview-font.ts'

/** Draws an SVG as PNG. */
type Rasterise = (svg: string) => Uint8Array

/** Loads the renderer and the font. The renderer ignores files and addresses in an SVG. */
export async function openRasteriser(): Promise<Rasterise> {
  await initWasm(readFileSync(fileURLToPath(import.meta.resolve('@resvg/resvg-wasm/index_bg.wasm'))))
  const fontBuffers = [fontFile('bold'), fontFile('regular')]
  const font = { fontBuffers, loadSystemFonts: false, defaultFontFamily: PREVIEW_FONT }
  return (svg) => {
    // Frees the renderer's memory immediately, because no garbage collector sees it.
    const drawing = new Resvg(svg, { font })
    try {
      const image = drawing.render()
      try {
        return image.asPng()
      } finally {
        image.free()
      }
    } finally {
      drawing.free()
    }
  }
}
