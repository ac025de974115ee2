package engine

import (
	"fmt"

	"github.com/tetratelabs/wazero/api"
)

// functions are the C functions of PDFium that we call, each looked up once.
// What they take and give is in PDFium's public headers (fpdfview.h and its
// neighbours); pointers, handles and booleans are 32 bits wide.
type functions struct {
	malloc, free, initLibrary, lastError api.Function

	fileAccess, loadDocument, closeDocument, pageCount, securityRevision api.Function
	metaText, language, isTagged, pageLabel                              api.Function
	firstChild, nextSibling, bookmarkTitle, bookmarkDest, bookmarkAction api.Function
	actionDest, actionType, actionURI, destPage, destLocation, pageSize  api.Function

	loadPage, closePage, pageBox, pageRotation                                                                api.Function
	textLoad, textClose, textCount, textUnicode, textHyphen                                                   api.Function
	textObject, textMatrix, textFontSize, textOrigin                                                          api.Function
	fontAscent, fontDescent, textBox                                                                          api.Function
	objectFont, objectRenderMode, objectFillColor, objectMCID                                                 api.Function
	fontName, fontFlags, fontWeight                                                                           api.Function
	objectCount, objectAt, objectType, objectBounds, objectMatrix                                             api.Function
	formCount, formAt                                                                                         api.Function
	pathMode, pathCount, pathSegment                                                                          api.Function
	segmentPoint, segmentType, segmentClose                                                                   api.Function
	annotCount, annotAt, annotClose, annotSubtype, annotFlags, annotRect, annotLook, annotString, annotNumber api.Function
	flatten                                                                                                   api.Function
	linkEnumerate, linkRect, linkAction, linkQuadCount, linkQuad                                              api.Function

	treeForPage, treeClose, treeCount, treeAt                         api.Function
	elementType, elementAlt, elementActual, elementCount, elementAt   api.Function
	elementKidMCID, elementAttrCount                                  api.Function
	elementAttrAt, attrValue, attrNumber                              api.Function
	bitmapCreate, bitmapDestroy, bitmapFill, bitmapBuffer, renderPage api.Function
	bitmapStride                                                      api.Function
}

func (f *functions) resolve(m api.Module) error {
	for _, x := range f.table() {
		if *x.fn = m.ExportedFunction(x.name); *x.fn == nil {
			return fmt.Errorf("%w: it has no %s", errModule, x.name)
		}
	}
	return nil
}

type namedFunction struct {
	name string
	fn   *api.Function
}

func (f *functions) table() []namedFunction {
	return []namedFunction{
		{"malloc", &f.malloc},
		{"free", &f.free},
		{"FPDF_InitLibrary", &f.initLibrary},
		{"FPDF_GetLastError", &f.lastError},

		{"FPDF_FILEACCESS_Create", &f.fileAccess},
		{"FPDF_LoadCustomDocument", &f.loadDocument},
		{"FPDF_CloseDocument", &f.closeDocument},
		{"FPDF_GetPageCount", &f.pageCount},
		{"FPDF_GetSecurityHandlerRevision", &f.securityRevision},
		{"FPDF_GetMetaText", &f.metaText},
		{"FPDFCatalog_GetLanguage", &f.language},
		{"FPDFCatalog_IsTagged", &f.isTagged},
		{"FPDF_GetPageLabel", &f.pageLabel},
		{"FPDFBookmark_GetFirstChild", &f.firstChild},
		{"FPDFBookmark_GetNextSibling", &f.nextSibling},
		{"FPDFBookmark_GetTitle", &f.bookmarkTitle},
		{"FPDFBookmark_GetDest", &f.bookmarkDest},
		{"FPDFBookmark_GetAction", &f.bookmarkAction},
		{"FPDFAction_GetDest", &f.actionDest},
		{"FPDFAction_GetType", &f.actionType},
		{"FPDFAction_GetURIPath", &f.actionURI},
		{"FPDFDest_GetDestPageIndex", &f.destPage},
		{"FPDFDest_GetLocationInPage", &f.destLocation},
		{"FPDF_GetPageSizeByIndexF", &f.pageSize},

		{"FPDF_LoadPage", &f.loadPage},
		{"FPDF_ClosePage", &f.closePage},
		{"FPDF_GetPageBoundingBox", &f.pageBox},
		{"FPDFPage_GetRotation", &f.pageRotation},
		{"FPDFText_LoadPage", &f.textLoad},
		{"FPDFText_ClosePage", &f.textClose},
		{"FPDFText_CountChars", &f.textCount},
		{"FPDFText_GetUnicode", &f.textUnicode},
		{"FPDFText_IsHyphen", &f.textHyphen},
		{"FPDFText_GetTextObject", &f.textObject},
		{"FPDFText_GetMatrix", &f.textMatrix},
		{"FPDFText_GetFontSize", &f.textFontSize},
		{"FPDFText_GetCharOrigin", &f.textOrigin},
		{"FPDFText_GetCharBox", &f.textBox},
		{"FPDFTextObj_GetFont", &f.objectFont},
		{"FPDFTextObj_GetTextRenderMode", &f.objectRenderMode},
		{"FPDFPageObj_GetFillColor", &f.objectFillColor},
		{"FPDFPageObj_GetMarkedContentID", &f.objectMCID},
		{"FPDFFont_GetBaseFontName", &f.fontName},
		{"FPDFFont_GetFlags", &f.fontFlags},
		{"FPDFFont_GetWeight", &f.fontWeight},
		{"FPDFFont_GetAscent", &f.fontAscent},
		{"FPDFFont_GetDescent", &f.fontDescent},
		{"FPDFPage_CountObjects", &f.objectCount},
		{"FPDFPage_GetObject", &f.objectAt},
		{"FPDFPageObj_GetType", &f.objectType},
		{"FPDFPageObj_GetBounds", &f.objectBounds},
		{"FPDFPageObj_GetMatrix", &f.objectMatrix},
		{"FPDFFormObj_CountObjects", &f.formCount},
		{"FPDFFormObj_GetObject", &f.formAt},
		{"FPDFPath_GetDrawMode", &f.pathMode},
		{"FPDFPath_CountSegments", &f.pathCount},
		{"FPDFPath_GetPathSegment", &f.pathSegment},
		{"FPDFPathSegment_GetPoint", &f.segmentPoint},
		{"FPDFPathSegment_GetType", &f.segmentType},
		{"FPDFPathSegment_GetClose", &f.segmentClose},
		{"FPDFPage_GetAnnotCount", &f.annotCount},
		{"FPDFPage_GetAnnot", &f.annotAt},
		{"FPDFPage_CloseAnnot", &f.annotClose},
		{"FPDFAnnot_GetSubtype", &f.annotSubtype},
		{"FPDFAnnot_GetFlags", &f.annotFlags},
		{"FPDFAnnot_GetRect", &f.annotRect},
		{"FPDFAnnot_GetAP", &f.annotLook},
		{"FPDFAnnot_GetStringValue", &f.annotString},
		{"FPDFAnnot_GetNumberValue", &f.annotNumber},
		{"FPDFPage_Flatten", &f.flatten},
		{"FPDFLink_Enumerate", &f.linkEnumerate},
		{"FPDFLink_GetAnnotRect", &f.linkRect},
		{"FPDFLink_GetAction", &f.linkAction},
		{"FPDFLink_CountQuadPoints", &f.linkQuadCount},
		{"FPDFLink_GetQuadPoints", &f.linkQuad},

		{"FPDF_StructTree_GetForPage", &f.treeForPage},
		{"FPDF_StructTree_Close", &f.treeClose},
		{"FPDF_StructTree_CountChildren", &f.treeCount},
		{"FPDF_StructTree_GetChildAtIndex", &f.treeAt},
		{"FPDF_StructElement_GetType", &f.elementType},
		{"FPDF_StructElement_GetAltText", &f.elementAlt},
		{"FPDF_StructElement_GetActualText", &f.elementActual},
		{"FPDF_StructElement_CountChildren", &f.elementCount},
		{"FPDF_StructElement_GetChildAtIndex", &f.elementAt},
		{"FPDF_StructElement_GetChildMarkedContentID", &f.elementKidMCID},
		{"FPDF_StructElement_GetAttributeCount", &f.elementAttrCount},
		{"FPDF_StructElement_GetAttributeAtIndex", &f.elementAttrAt},
		{"FPDF_StructElement_Attr_GetValue", &f.attrValue},
		{"FPDF_StructElement_Attr_GetNumberValue", &f.attrNumber},

		{"FPDFBitmap_CreateEx", &f.bitmapCreate},
		{"FPDFBitmap_Destroy", &f.bitmapDestroy},
		{"FPDFBitmap_FillRect", &f.bitmapFill},
		{"FPDFBitmap_GetBuffer", &f.bitmapBuffer},
		{"FPDFBitmap_GetStride", &f.bitmapStride},
		{"FPDF_RenderPageBitmap", &f.renderPage},
	}
}
