package conformance

// sdkTests lists the promises that are asked for through the SDK.
var sdkTests = []sdkTest{}
