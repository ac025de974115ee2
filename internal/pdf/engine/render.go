package engine

import (
	"fmt"
	"image"
	"math"
)

const (
	bitmapGray  = 1      // FPDFBitmap_Gray
	annotations = 0x01   // FPDF_ANNOT: stamps and form fields too
	maxSide     = 20_000 // pixels
)

// Render paints page n in grey at dpi dots per inch, or at fewer if it would
// have more than maxPixels.
func (d *Document) Render(n int, dpi float64, maxPixels int) (*image.Gray, error) {
	if err := d.ready(n); err != nil {
		return nil, err
	}
	p, err := d.load(n)
	if err != nil {
		return nil, err
	}
	defer p.close()
	w, h := p.out.Width*dpi/72, p.out.Height*dpi/72
	if !(w > 0 && h > 0) || maxPixels < 1 {
		return nil, fmt.Errorf("%w: page %d has no area", ErrPage, n)
	}
	if f := min(math.Sqrt(float64(maxPixels)/(w*h)), maxSide/max(w, h)); f < 1 {
		w, h = w*f, h*f
	}
	width, height := max(int(w), 1), max(int(h), 1)

	e := d.e
	bitmap := uint64(e.call(e.fn.bitmapCreate, uint64(width), uint64(height), bitmapGray, 0, 0))
	if bitmap == 0 {
		if err := e.failed(); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%w: no memory for an image of %d by %d", ErrPage, width, height)
	}
	defer e.call(e.fn.bitmapDestroy, bitmap)
	e.call(e.fn.bitmapFill, bitmap, 0, 0, uint64(width), uint64(height), 0xffffffff)
	e.call(e.fn.renderPage, bitmap, p.handle, 0, 0, uint64(width), uint64(height), 0, annotations)
	stride, buffer := e.call(e.fn.bitmapStride, bitmap), e.call(e.fn.bitmapBuffer, bitmap)
	if err := e.failed(); err != nil {
		return nil, err
	}
	img := image.NewGray(image.Rect(0, 0, width, height))
	for y := range height {
		row, ok := e.mem.Read(buffer+uint32(y)*stride, uint32(width))
		if !ok {
			return nil, fmt.Errorf("%w: page %d", ErrPage, n)
		}
		copy(img.Pix[y*img.Stride:], row)
	}
	return img, nil
}
