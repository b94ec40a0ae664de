package serve

import (
	"cmp"
	"context"
	"log/slog"
	"os"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"autoshard"
	"autoshard/internal/diag"
)

// Attributes of all spans.
const (
	serviceName    = attribute.Key("service.name")
	serviceVersion = attribute.Key("service.version")
)

// flushTime bounds how long spans that were not sent yet hold up the end of the server.
const flushTime = 5 * time.Second

// tracing returns where spans go, nil for nowhere, as the standard variables of OpenTelemetry say: OTEL_SDK_DISABLED,
// OTEL_TRACES_EXPORTER, those of OTEL_EXPORTER_OTLP_ and of the sampler. Flush sends what was not sent yet.
func tracing(ctx context.Context) (provider trace.TracerProvider, flush func(*slog.Logger), err error) {
	none := func(*slog.Logger) {}
	wanted := os.Getenv("OTEL_TRACES_EXPORTER")
	endpoint := cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT"))
	if strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") || wanted == "none" || wanted == "" && endpoint == "" {
		return nil, none, nil
	}
	if wanted != "" && wanted != "otlp" {
		return nil, none, diag.Invalid(diag.BadOption, diag.Position{File: "OTEL_TRACES_EXPORTER"}, "must be otlp or none, not %q", wanted)
	}
	protocol := cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"), os.Getenv("OTEL_EXPORTER_OTLP_PROTOCOL"))
	if protocol != "" && protocol != "http/protobuf" {
		return nil, none, diag.Invalid(diag.BadOption, diag.Position{File: "OTEL_EXPORTER_OTLP_PROTOCOL"},
			"must be http/protobuf, not %q: spans are sent by no other protocol", protocol)
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, none, diag.Invalid(diag.BadOption, diag.Position{File: "OTEL_EXPORTER_OTLP_ENDPOINT"}, "%v", err)
	}
	about, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithAttributes(serviceName.String("autoshard"),
		serviceVersion.String(autoshard.Version())), resource.WithFromEnv())
	if err != nil {
		return nil, none, diag.Invalid(diag.BadOption, diag.Position{File: "OTEL_RESOURCE_ATTRIBUTES"}, "%v", err)
	}
	p := sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithResource(about))
	return p, func(logger *slog.Logger) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTime)
		defer cancel()
		if err := p.Shutdown(ctx); err != nil {
			logger.Warn("spans are lost", "error", err)
		}
	}, nil
}
