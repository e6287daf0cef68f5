#include "braintrace/viz/svg.h"
namespace braintrace { std::string graph_html(const GraphView& v) { return svg_picture(picture_of(v), true); } }
